import { format, getFormatDateInfo, isDateFormat } from 'numfmt'
import { createEraFormat, withSmallEras } from './japanese-eras.js'

/** Shows a number that is stored as text of digits, or with a sign, a point and an exponent. */
export type NumberFormat = (stored: string) => string

/** Characters of a format; Excel allows 255. */
const maxFormatLength = 255
/** Digits to which a number is exact; the others are errors of binary fractions. */
const maxDigits = 15
/** From here on, digits in front of the point are not exact. */
const maxPlainNumber = 1e21
const secondsPerDay = 86_400
/** Days by which dates differ that are counted from 1904. */
const daysUntil1904 = 1462

const options = { locale: 'en', dateSpanLarge: false }

/** Dates that are shown as the region of the reader has it: written so that every reader understands them. */
const regionalDate = 'yyyy-mm-dd'
const regionalDateTime = 'yyyy-mm-dd hh:mm'

/**
 * Formats that files name by a number only. Those that depend on the language of the program (currencies, the calendars of
 * East Asia) lack the parts that the file does not contain.
 */
const builtInFormats: ReadonlyMap<number, string> = new Map([
  [1, '0'],
  [2, '0.00'],
  [3, '#,##0'],
  [4, '#,##0.00'],
  ...[5, 6, 37, 38, 41, 42].map((id): [number, string] => [id, '#,##0;-#,##0']),
  ...[7, 8, 39, 40, 43, 44].map((id): [number, string] => [id, '#,##0.00;-#,##0.00']),
  [9, '0%'],
  [10, '0.00%'],
  [11, '0.00E+00'],
  [12, '# ?/?'],
  [13, '# ??/??'],
  [14, regionalDate],
  [15, 'd-mmm-yy'],
  [16, 'd-mmm'],
  [17, 'mmm-yy'],
  [18, 'h:mm AM/PM'],
  [19, 'h:mm:ss AM/PM'],
  [20, 'h:mm'],
  [21, 'h:mm:ss'],
  [22, regionalDateTime],
  ...[27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58].map((id): [number, string] => [
    id,
    regionalDate,
  ]),
  ...[32, 34, 55].map((id): [number, string] => [id, 'h:mm']),
  ...[33, 35, 56].map((id): [number, string] => [id, 'h:mm:ss']),
  [45, 'mm:ss'],
  [46, '[h]:mm:ss'],
  [47, 'mm:ss.0'],
  [48, '##0.0E+0'],
  [49, '@'],
])

/** The format of a number, if the program has it built in. */
export function builtInFormat(id: number): string | undefined {
  return builtInFormats.get(id)
}

/**
 * Prepares a format as Excel shows numbers with it, with the signs of English for points and thousands.
 *
 * @param code in the format language of Excel; an invalid one is shown as `General`
 * @param from1904 whether dates are counted from 1904
 */
export function createNumberFormat(code: string, from1904: boolean): NumberFormat {
  const pattern = toPattern(code)
  if (pattern === undefined) return showGeneral
  const show = isDateFormat(pattern) ? dateFormat(pattern, from1904) : plainFormat(pattern)
  return (stored) => {
    const number = Number(stored)
    if (stored === '' || !Number.isFinite(number)) return stored
    // More digits than a program keeps: the number is an identifier that another program wrote.
    if (/^-?\d{16,}$/.test(stored)) return stored
    try {
      return show(toExact(number), stored)
    } catch {
      return showGeneral(stored)
    }
  }
}

/** Prepares the part of a format that is for texts, if it has one that changes them. */
export function createTextFormat(code: string): ((text: string) => string) | undefined {
  if (!code.includes('@') && !code.includes(';;')) return undefined
  const pattern = toPattern(code)
  if (pattern === undefined) return undefined
  const show = (text: string) => format(pattern, text, options)
  try {
    return show('x').trim() === 'x' ? undefined : show
  } catch {
    return undefined
  }
}

/** The format as the library understands it; undefined if it is `General` or not valid. */
function toPattern(code: string): string | undefined {
  if (code.length > maxFormatLength || /^(?:general|@)?$/i.test(code)) return undefined
  const known = withSmallEras(withoutUnknown(code))
  try {
    // The language of a currency does not change how its amount is written.
    const pattern = isDateFormat(known) ? known : withPlainCurrency(known)
    format(pattern, 1, options)
    return pattern
  } catch {
    const letters = known.replace(/"[^"]*"|\\.|\[[^\]]*\]/g, '')
    if (!/[yd]/i.test(letters)) return undefined
    return /h/i.test(letters) ? regionalDateTime : regionalDate
  }
}

const modifier = /"[^"]*"|\\.|\[([^\]]*)\]/g
const knownModifier =
  /^(?:(?:<[=>]?|>=?|=)\s*-?[.\d]+|h+|m+|s+|\$.+|(?:db|nat)num\d+|black|blue|cyan|green|magenta|red|white|yellow|color\s*\d+)$/i

/** Without colours in other languages and the like. */
function withoutUnknown(code: string): string {
  return code.replace(modifier, (part: string, content: string | undefined) => {
    return content === undefined || knownModifier.test(content) ? part : ''
  })
}

/** `[$€-407]` as `"€"`. */
function withPlainCurrency(code: string): string {
  return code.replace(modifier, (part: string, content: string | undefined) => {
    if (content?.startsWith('$') !== true) return part
    const sign = content.slice(1).split('-')[0] ?? ''
    return sign === '' ? '' : `"${sign}"`
  })
}

type Show = (number: number, stored: string) => string

function plainFormat(pattern: string): Show {
  const hasFraction = pattern.includes('/')
  return (number, stored) => {
    if (Math.abs(number) >= maxPlainNumber && !/E[+-]/i.test(pattern)) return showGeneral(stored)
    // A step up, so that 1.005, which is a little less in binary, is rounded as people do.
    const isRounded = !hasFraction && !Number.isInteger(number)
    const value = isRounded ? number * (1 + 2 * Number.EPSILON) : number
    return format(pattern, value, options)
  }
}

function dateFormat(pattern: string, from1904: boolean): Show {
  const info = getFormatDateInfo(pattern)
  const hasDay = info.year || info.month || info.day
  const unit = secondsPerDay * (/\.0/.test(pattern) ? 1000 : 1)
  // The library knows years of the common calendar only.
  const era = createEraFormat(pattern)
  return (number) => {
    const days = Math.round(number * unit) / unit
    const day = from1904 ? days + daysUntil1904 : days
    if (era !== undefined) return era.fill(format(era.pattern, day, options), day)
    if (hasDay) return format(pattern, day, options)
    return days < 0 ? `-${format(pattern, -days, options)}` : format(pattern, days, options)
  }
}

/** As Excel shows it in a wide cell, but a whole number with all of its digits: it may be an article number. */
export function showGeneral(stored: string): string {
  const number = Number(stored)
  if (stored === '' || !Number.isFinite(number) || /^-?\d{1,20}$/.test(stored)) return stored
  const exact = toExact(number)
  if (Number.isInteger(exact) && Math.abs(exact) < 1e15) return String(exact)
  const shown = format('General', exact, options)
  const isCut =
    Number.isInteger(exact) && Math.abs(exact) < maxPlainNumber && Number(shown) !== exact
  return isCut ? String(exact) : shown
}

function toExact(number: number): number {
  return Number.isInteger(number) && Math.abs(number) < 1e15
    ? number
    : Number(number.toPrecision(maxDigits))
}
