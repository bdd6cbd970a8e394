import { type Omission, type OmissionPlace, omissionTexts } from './omissions.js'

/** Describes an omission and its places in words, such as `3 scanned pages: pages 2 to 4`. */
export function describeOmission({ kind, count, places, detail, hasMorePlaces }: Omission): string {
  const { one, many } = omissionTexts[kind]
  const what = count === 1 ? `1 ${one}` : `${count.toLocaleString('en')} ${many}`
  const where = describePlaces(places)
  const rest = where !== '' && hasMorePlaces ? `${where} and others` : where
  return [what, ...(detail === undefined ? [] : [` (${detail})`]), rest && `: ${rest}`].join('')
}

const numberedPlaces = ['page', 'slide', 'line'] as const

/** Places that are only a number as ranges, then the others. */
function describePlaces(places: readonly OmissionPlace[]): string {
  const ranges = numberedPlaces.flatMap((name) => {
    const numbers = places.flatMap((place) => (isOnly(place, name) ? (place[name] ?? []) : []))
    if (numbers.length === 0) return []
    return [`${numbers.length === 1 ? name : `${name}s`} ${toList(toRanges(numbers))}`]
  })
  const others = places.filter((place) => !numberedPlaces.some((name) => isOnly(place, name)))
  return [...ranges, ...others.map(describePlace)].join('; ')
}

function isOnly(place: OmissionPlace, name: keyof OmissionPlace): boolean {
  return Object.keys(place).length === 1 && place[name] !== undefined
}

function describePlace({ page, slide, sheet, part, line }: OmissionPlace): string {
  const words = [
    page !== undefined && `page ${page}`,
    slide !== undefined && `slide ${slide}`,
    sheet !== undefined && `sheet ${sheet}`,
    part,
    line !== undefined && `line ${line}`,
  ]
  return words.filter(Boolean).join(', ')
}

/** `2`, `4 to 6`: each number once, in order. */
function toRanges(numbers: readonly number[]): string[] {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b)
  const ranges: { from: number; to: number }[] = []
  for (const number of sorted) {
    const last = ranges.at(-1)
    if (last !== undefined && last.to === number - 1) last.to = number
    else ranges.push({ from: number, to: number })
  }
  return ranges.flatMap(({ from, to }) => {
    if (from === to) return [`${from}`]
    return to === from + 1 ? [`${from}`, `${to}`] : [`${from} to ${to}`]
  })
}

function toList(words: readonly string[]): string {
  if (words.length < 2) return words.join('')
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
