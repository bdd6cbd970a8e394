const millisecondsPerDay = 86_400_000
/** The day of the serial number 0; before the 29th of February 1900, which Excel counts although it never was, a day later. */
const dayZero = Date.UTC(1899, 11, 30)
const extraDay = 60
/** The language of a format that counts years from the beginning of eras: by its number, or by its name. */
const japanese = /\[\$[^\]-]*-(?:[\da-f]*0?411|ja(?:-[^\]]*)?)\]/i
/** Names of eras from one letter to whole, and years in them; not inside of quotes, brackets and behind a backslash. */
const eraParts = /"[^"]*"|\\.|\[[^\]]*\]|(g{1,3})|(e{1,2})/gi

const names = {
  g: new Intl.DateTimeFormat('ja-JP-u-ca-japanese', { era: 'narrow', timeZone: 'UTC' }),
  ggg: new Intl.DateTimeFormat('ja-JP-u-ca-japanese', { era: 'long', timeZone: 'UTC' }),
}

/** Characters that no text has: the places of the name of an era, by its length, and of its year, by its digits. */
const places = { era: ['\ue001', '\ue002', '\ue003'], year: ['\ue004', '\ue005'] }
const placePattern = /[\ue001-\ue005]/g

/** A format with places for the era and its year, and the function that fills them in. */
interface EraFormat {
  pattern: string
  fill(shown: string, days: number): string
}

/**
 * Prepares a format of years in Japanese eras, such as `[$-411]ge.m.d` of `R6.3.15`; undefined if it is another one.
 * The library keeps each pattern for ever, so that there is one for all years.
 */
export function createEraFormat(pattern: string): EraFormat | undefined {
  const hasEra = [...pattern.matchAll(eraParts)].some(([, era]) => era !== undefined)
  if (!japanese.test(pattern) || !hasEra) return undefined
  const namesFirstYear = /gannen/i.test(pattern)
  return {
    pattern: pattern.replace(eraParts, (part: string, era?: string, years?: string) => {
      const place = places.era[(era?.length ?? 0) - 1] ?? places.year[(years?.length ?? 0) - 1]
      return place === undefined ? part : `"${place}"`
    }),
    fill(shown, days) {
      const whole = Math.floor(days) + (days < extraDay ? 1 : 0)
      const date = new Date(dayZero + whole * millisecondsPerDay)
      const year = yearOf(date)
      return shown.replace(placePattern, (place) => {
        const length = places.era.indexOf(place) + 1
        if (length > 0) return nameOf(date, length)
        if (year === 1 && namesFirstYear) return '元'
        return String(year).padStart(places.year.indexOf(place) + 1, '0')
      })
    },
  }
}

/** A format with its eras and their years in small letters, as the library knows them. */
export function withSmallEras(code: string): string {
  if (!japanese.test(code)) return code
  return code.replace(eraParts, (part: string, era?: string, years?: string) => {
    return era === undefined && years === undefined ? part : part.toLowerCase()
  })
}

/** `R`, `令` or `令和`. */
function nameOf(date: Date, length: number): string {
  const format = length === 1 ? names.g : names.ggg
  const name = format.formatToParts(date).find(({ type }) => type === 'era')?.value ?? ''
  return length === 2 ? name.slice(0, 1) : name
}

function yearOf(date: Date): number {
  const part = names.g.formatToParts(date).find(({ type }) => type === 'year')?.value ?? ''
  return part === '元' ? 1 : Number(part)
}
