import { isStopword } from './function-words.js'
import { isUnspaced } from './normalise.js'

/*
 * Numbers and codes that people write in several ways: with separators and without. The index has them without, besides
 * their parts.
 */

/** Numbers with separated thousands: `1.245`, `1,245`, `1 245`, `1'245`. */
const groupedNumber =
  /(?<![\p{L}\p{N}.,_])\p{Nd}{1,3}(?:([.,' ’])\p{Nd}{3})(?:\1\p{Nd}{3})*(?!\p{N})/gu
/** Letters and a number that people also write as one word: `UTF-8`, `HP-400`. */
const lettersAndNumber = /(?<![\p{L}\p{N}])\p{L}{1,5}-\p{N}{1,6}(?![\p{L}\p{N}])/gu
/** A text that may be the number of a part, an article or an order: `4711-AB/3`, `88-120-4`, `XK9.2.4`. */
const separated =
  /(?<![\p{L}\p{N}\p{M}./:@_\-\u2010-\u2014\u2212])[\p{L}\p{N}]{1,10}(?:[-\u2010-\u2014\u2212/_.][\p{L}\p{N}]{1,10}){1,8}(?![\p{L}\p{N}\p{M}]|[-\u2010-\u2014\u2212./:@_][\p{L}\p{N}])/gu
const mayHaveSeparated =
  /\p{N}[.,' ’]\p{N}{3}|\p{N}[-\u2010-\u2014\u2212/_.][\p{L}\p{N}]|[\p{L}\p{N}][-\u2010-\u2014\u2212/_.]\p{N}/u
const separatorSigns = /[^\p{L}\p{N}]/gu
const onlyDigits = /^\p{N}+$/u
const hasDigit = /\p{N}/u

/** A number or a code that contains separators. */
interface JoinedMatch {
  /** Without its separators. */
  token: string
  /** Its place in the text. */
  start: number
  end: number
}

/**
 * Numbers and codes that people write with separators and without, each once for each place.
 *
 * @param normalised in the form of `normalise`
 */
export function locateJoined(normalised: string): JoinedMatch[] {
  const matches = new Map<string, JoinedMatch>()
  const spaced = locateSpacedCodes(normalised)
  if (mayHaveSeparated.test(normalised)) {
    for (const pattern of [groupedNumber, lettersAndNumber, separated]) {
      for (const { 0: match, index: start } of normalised.matchAll(pattern)) {
        if (pattern === separated && !isPartNumber(match)) continue
        const token = match.replace(separatorSigns, '')
        const end = start + match.length
        if (isApart(spaced, start, end)) matches.set(`${token} ${start}`, { token, start, end })
      }
    }
  }
  for (const { tokens, start, end } of spaced) {
    for (const token of tokens) matches.set(`${token} ${start}`, { token, start, end })
  }
  return [...matches.values()]
}

function isApart(others: readonly SpacedCode[], start: number, end: number): boolean {
  return others.every((other) => end <= other.start || start >= other.end)
}

/** Letters of a code that are not likely to be a word. */
const maxLettersLength = 3
/** Digits that two numbers need to be one code instead of a range: `555-1234`, but not `10-20`. */
const minOfPair = 6
const minDigits = 4

/** Whether words with separators between them are one code; `24-hour`, `1999-2004` and `read/write` are not. */
function isPartNumber(match: string): boolean {
  const parts = match.split(/[^\p{L}\p{N}]/u)
  const letters = parts.filter((part) => !hasDigit.test(part))
  if (letters.length === parts.length || isUnspaced(match)) return false
  if (letters.some((part) => part.length > maxLettersLength || isStopword(part))) return false
  const digits = match.replace(/[^\p{N}]/gu, '').length
  if (match.includes('.')) return isDottedCode(parts, digits)
  const isPair = parts.length === 2
  if (parts.every((part) => onlyDigits.test(part))) {
    const isRange = isPair && parts.every(({ length }) => length === minDigits)
    return !isRange && digits >= (isPair ? minOfPair : minDigits)
  }
  return !isPair || letters.length === 0 || digits >= minDigits
}

/** Digits of a code with points, more than a version or the number of a chapter has: `28.11.2026`, but not `1.2.3`. */
const minOfDotted = 6
/** The same for a code that begins with two letters: `XK9.2.4`. */
const minAfterLetters = 3
const versionSign = /^(?:v|ver|rev|r)\p{N}*$/u
const lettersFirst = /^\p{L}+\p{N}/u

/** Whether words with a point between them are one code; `3.5mm`, `1.2.3`, `v1.2.3` and `A1.2` are not. */
function isDottedCode(parts: readonly string[], digits: number): boolean {
  const [first = ''] = parts
  if (parts.every((part) => onlyDigits.test(part))) return parts.length > 2 && digits >= minOfDotted
  if (versionSign.test(first)) return false
  const isLabelled = /^\p{L}{2}/u.test(first)
  return (
    (parts.length > 2 || parts.some((part) => lettersFirst.test(part))) &&
    digits >= (isLabelled ? minAfterLetters : minDigits)
  )
}

/** Signs between the groups of a telephone number. */
const between = String.raw`(?:[ ./\-\u2010\u2011]|\)[ \-]?| \()`
/** Of other countries: `+41 44 668 18 00`, `0041446681800`, `+44 (0)20 7946 0958`. */
const international = new RegExp(
  String.raw`(?<![\p{L}\p{N}+.\-/])(?:\+ ?|00)[1-9][0-9]{0,14}(?: ?\(0\) ?[0-9]{1,12}|${between}[0-9]{1,12})?(?:${between}[0-9]{2,12}){0,6}(?![\p{L}\p{N}])`,
  'gu',
)
/** Of the same country: `044 668 18 00`, `(0 44) 668 18 00`, `044/668.18.00`, `(212) 555-1234`. */
const national = new RegExp(
  String.raw`(?<![\p{L}\p{N}+.,\-/_(])(?:\(0[0-9 ]{1,6}\) ?|0[0-9]{1,5}${between})[0-9]{2,12}(?:${between}[0-9]{2,12}){0,5}(?![\p{L}\p{N}]|[.,:/\-][0-9])`,
  'gu',
)
const american =
  /(?<![\p{L}\p{N}+.,\-/_(])(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2} )[0-9]{3}[ -][0-9]{4}(?![\p{L}\p{N}]|[.,:/-][0-9])/gu
const mayHaveTelephone =
  /[+(][0-9 ]|0[0-9]{1,5}[ ./\-\u2010\u2011][0-9]{2}|00[1-9][0-9]{6}|[0-9]{3} [0-9]{3}[ -][0-9]{4}/
const notDigits = /[^0-9]/g
/** Digits of a telephone number: fewer are other numbers. */
const minTelephone = 8
const maxTelephone = 15
/** Of the same country. */
const maxNational = 12

/** Countries with a code of one digit, and the first digits of codes of two; the others have three. */
const countryCode = /^(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|[2-9][0-9]{2})/
/** Countries whose national numbers do not begin with an additional zero. */
const withoutZero =
  /^(?:1|7|30|34|39|45|47|48|65|35[0246]|37[1-8]|420|50[0-9]|85[23]|965|968|97[134])$/
/** Marks the national form of an international number, so that numbers of different countries stay apart. */
const nationalMark = 'tel'

/** A bank account: `CH93 0076 2011 6238 5295 7`. */
const iban =
  /(?<![\p{L}\p{N}])[a-z]{2}[0-9]{2}(?:[ \-\u2010\u2011][a-z0-9]{4}){2,7}(?:[ \-\u2010\u2011][a-z0-9]{1,3})?(?![\p{L}\p{N}])/gu
const mayHaveAccount = /[a-z]{2}[0-9]{2}[ \-\u2010\u2011][a-z0-9]{4}/
const minIban = 15
const maxIban = 34

/** A code in the forms in which the index may have it. */
interface Notations {
  /** The code without separators. */
  token: string
  /** Other codes that stand for it in the index. */
  others: readonly string[]
  /** Its tokens in the index, besides those of its parts. */
  tokens: readonly string[]
}

/** A code whose parts may have spaces between them. */
export interface SpacedCode extends Notations {
  start: number
  end: number
}

/**
 * Telephone numbers and bank accounts, in the order of the text.
 *
 * @param normalised in the form of `normalise`
 */
export function locateSpacedCodes(normalised: string): SpacedCode[] {
  const found: SpacedCode[] = []
  const add = (code: Notations | undefined, match: string, start: number) => {
    const end = start + match.length
    if (code !== undefined && isApart(found, start, end)) found.push({ ...code, start, end })
  }
  if (mayHaveAccount.test(normalised)) {
    for (const { 0: match, index } of normalised.matchAll(iban)) {
      const account = toAccount(match)
      if (account !== undefined) add(toCode(account), account, index)
    }
  }
  if (mayHaveTelephone.test(normalised)) {
    for (const { 0: match, index } of normalised.matchAll(international)) {
      add(toInternational(match), match, index)
    }
    for (const pattern of [national, american]) {
      for (const { 0: match, index } of normalised.matchAll(pattern)) {
        add(toNational(match), match, index)
      }
    }
  }
  return found.sort((a, b) => a.start - b.start)
}

function toCode(match: string): Notations {
  const token = match.replace(separatorSigns, '')
  return { token, others: [], tokens: token === match ? [] : [token] }
}

function toInternational(match: string): Notations | undefined {
  const digits = match.replace('(0)', '').replace(notDigits, '').replace(/^00/, '')
  const [country = ''] = countryCode.exec(digits) ?? []
  if (country === '' || digits.length < minTelephone || digits.length > maxTelephone) return
  const rest = digits.slice(country.length)
  const within = withoutZero.test(country) ? rest : `0${rest}`
  const isWhole = match.slice(1) === digits
  return {
    token: digits,
    others: [within],
    tokens: [...(isWhole ? [] : [digits]), nationalMark + within],
  }
}

function toNational(match: string): Notations | undefined {
  const token = match.replace(notDigits, '')
  const isNumber = token.length >= minTelephone && token.length <= maxNational
  if (!isNumber || token.startsWith('00')) return
  return { token, others: [nationalMark + token], tokens: [token] }
}

/** The longest beginning of a match that is an account: words may follow it. */
function toAccount(match: string): string | undefined {
  const ends = [...match.matchAll(/[^a-z0-9]|$/g)].map(({ index }) => index).reverse()
  const beginnings = ends
    .map((end) => match.slice(0, end))
    .filter((each) => {
      const { length } = each.replace(separatorSigns, '')
      return length >= minIban && length <= maxIban
    })
  return (
    beginnings.find(hasCheckDigits) ??
    beginnings.find((each) =>
      each
        .split(separatorSigns)
        .slice(2)
        .every((part) => /[0-9]/.test(part)),
    )
  )
}

/** Whether the two digits after the country are those of ISO 13616. */
function hasCheckDigits(account: string): boolean {
  const code = account.replace(separatorSigns, '')
  let rest = 0
  for (const sign of code.slice(4) + code.slice(0, 4)) {
    for (const digit of String(Number.parseInt(sign, 36))) rest = (rest * 10 + Number(digit)) % 97
  }
  return rest === 1
}

/**
 * Tokens without separators for numbers and codes that contain them: people also search for `1245`, `utf8`
 * and `4711ab3`.
 *
 * @param normalised in the form of `normalise`
 */
export function toJoined(normalised: string): string[] {
  return [...new Set(locateJoined(normalised).map(({ token }) => token))]
}

/** The joined token of a compound that is one such number or code as a whole. */
export function joinedAsWhole(compound: string): string | undefined {
  const whole = compound.replace(separatorSigns, '')
  return toJoined(compound).find((token) => token === whole)
}

/** A number that may be a telephone number. */
const mayBeTelephone = /^[0-9]{7,12}$/
/** A code that is also written as a word and a number. */
const wordAndNumber = /^(\p{L}{1,5})(\p{N}{1,6})$/u

/**
 * Other notations of a code without separators, by which a text may have it: tokens with spaces between them.
 *
 * @param code in the form of `normalise`
 */
export function otherNotations(code: string): string[] {
  if (mayBeTelephone.test(code)) return [nationalMark + code]
  const [, letters, digits] = wordAndNumber.exec(code) ?? []
  return letters === undefined ? [] : [`${letters} ${digits}`]
}
