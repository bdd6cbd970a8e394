import { attribute, descend, elements, findElements, textContent, type XmlElement } from './xml.js'

/** Formats with these numbers are dates in every workbook; others are looked at. */
const BUILT_IN_DATES = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47])
const BUILT_IN_PERCENT = new Map([
  [9, '0%'],
  [10, '0.00%'],
])
const DAY_MS = 86_400_000
/** Day 0 as seconds of Unix time: the day before 1899-12-31, for a leap day that never was. */
const EPOCH_MS = Date.UTC(1899, 11, 30)
const EPOCH_1904_MS = Date.UTC(1904, 0, 1)
const CURRENCIES = /[$€£¥₹₩₽₺₴฿]|\bCHF\b|\bUSD\b|\bEUR\b/

/** Turns the cells of a workbook into the text that its user sees. */
export interface CellReader {
  text(cell: XmlElement): string
}

/**
 * @param shared texts that cells refer to by number
 * @param styles the part with the number formats
 * @param workbook says from which year days are counted
 */
export function createCellReader(
  shared: readonly string[],
  styles: XmlElement | undefined,
  workbook: XmlElement,
): CellReader {
  const formats = readFormats(styles)
  const since1904 = ['1', 'true'].includes(
    attribute(descend(workbook, 'workbookPr'), 'date1904') ?? '',
  )
  const epoch = since1904 ? EPOCH_1904_MS : EPOCH_MS

  return {
    text(cell) {
      const value = textContent(descend(cell, 'v'))
      switch (attribute(cell, 't')) {
        case 's':
          return shared[Number(value)] ?? ''
        case 'inlineStr':
          return richText(descend(cell, 'is'))
        case 'b':
          return value === '1' ? 'TRUE' : 'FALSE'
        case 'str':
        case 'e':
        case 'd':
          return value
        default:
          return toText(value, formats[Number(attribute(cell, 's') ?? 0)] ?? '', epoch)
      }
    },
  }
}

/** A text with or without formats of its parts; phonetic guides are left out. */
export function richText(element: XmlElement | undefined): string {
  if (element === undefined) return ''
  const runs = elements(element, 'r').map((run) => textContent(descend(run, 't')))
  return elements(element, 't').map(textContent).join('') + runs.join('')
}

function readFormats(styles: XmlElement | undefined): string[] {
  if (styles === undefined) return []
  const own = new Map(
    findElements(styles, 'numFmt').map((format) => [
      Number(attribute(format, 'numFmtId')),
      attribute(format, 'formatCode') ?? '',
    ]),
  )
  return elements(descend(styles, 'cellXfs'), 'xf').map((xf) => {
    const id = Number(attribute(xf, 'numFmtId') ?? 0)
    if (BUILT_IN_DATES.has(id)) return id >= 18 && id <= 21 ? 'h:mm' : id === 22 ? 'y h' : 'y'
    return own.get(id) ?? BUILT_IN_PERCENT.get(id) ?? ''
  })
}

function toText(value: string, format: string, epoch: number): string {
  if (value === '') return ''
  const number = Number(value)
  if (!Number.isFinite(number)) return value
  // Only the part for positive numbers counts; texts in quotes and colours are no pattern.
  const pattern = (format.split(';')[0] ?? '').replace(/"[^"]*"|\\.|\[(?!\$)[^\]]*\]|[*_]./g, '')
  if (/[ydhs]|m{1,5}/i.test(pattern.replace(/\[[^\]]*\]|general/gi, ''))) {
    return toDate(number, pattern, epoch)
  }
  const decimals = /\.([0]+)/.exec(pattern)?.[1]?.length
  if (pattern.includes('%')) return `${plain(number * 100, decimals ?? 0)}%`
  const currency = CURRENCIES.exec(format)?.[0]
  const amount = plain(number, /0/.test(pattern) ? (decimals ?? 0) : undefined)
  return currency === undefined ? amount : `${amount} ${currency}`
}

/** Without the last digits, which only show that computers count in halves. */
function plain(number: number, decimals?: number): string {
  if (decimals !== undefined && Math.abs(number) < 1e15) return number.toFixed(decimals)
  return String(Number(number.toPrecision(15)))
}

function toDate(days: number, pattern: string, epoch: number): string {
  const time = new Date(epoch + Math.round((days * DAY_MS) / 1000) * 1000)
  if (Number.isNaN(time.getTime())) return String(days)
  const [date = '', clock = ''] = time.toISOString().split('T')
  const hours = clock.slice(0, clock.startsWith('00:00:00') || !/s/i.test(pattern) ? 5 : 8)
  const withDate = /[yd]/i.test(pattern) || !/h/i.test(pattern)
  const withTime = /h/i.test(pattern)
  return [...(withDate ? [date] : []), ...(withTime ? [hours] : [])].join(' ')
}
