/** Scripts without spaces between words; `scx` includes the marks that they share, such as `ー`. */
const unspacedScripts = String.raw`\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}`
export const lineBreakInUnspaced = new RegExp(
  `(?<=[${unspacedScripts}])\\n(?=[${unspacedScripts}])`,
  'gu',
)
const hasUnspaced = new RegExp(`[${unspacedScripts}]`, 'u')

// biome-ignore lint/suspicious/noControlCharactersInRegex: the class is plain ASCII
const asciiOnly = /^[\x00-\x7f]*$/
/** Soft hyphens, joiners and other invisible characters in words. */
const invisibleCharacters = /\p{Default_Ignorable_Code_Point}/gu
const mayHaveAccents = /[\u00c0-\u03ff\u1e00-\u1fff]/
const accentedLetter = /([\p{Script=Latin}\p{Script=Greek}])\p{Mn}+/gu

/** Letters that are not accented `a`, `o` and `u`: _schön_ is not _schon_. */
const umlautReplacements: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue' }
const hasUmlaut = /[äöü]/g

/** Latin letters that do not decompose into a base letter and a mark. */
const letterReplacements: Readonly<Record<string, string>> = {
  ß: 'ss',
  ø: 'o',
  æ: 'ae',
  œ: 'oe',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
}
const hasLetters = /[ßøæœłđðþı]/g

const arabicLetters = /[\u0600-\u06ff]/
/** Vowel signs, which are mostly omitted, and the tatweel, which only stretches a word. */
const arabicOptional = /[\u0640\u064b-\u0652\u0670]/g
const arabicAlef = /[\u0622\u0623\u0625\u0671]/g

/** Blocks that have digits of other scripts, besides those that are compatibility forms. */
const mayHaveOtherDigits = /[\u0660-\u1fff\ua620-\uabff\ud801-\ud83f]/
const otherDigit = /(?![0-9])\p{Nd}/gu
const decimalDigit = /\p{Nd}/u
/** Separators of thousands and of decimals between Arabic digits. */
const arabicSeparators: Readonly<Record<string, string>> = { '\u066b': '.', '\u066c': ',' }
const hasArabicSeparator = /[\u066b\u066c]/g

/** Positions at which compatibility forms would join two numbers: before the power of `10⁶` and the fraction of `1½`. */
const besideOtherDigits =
  /(?<=\p{Nd})(?=([\u00b2\u00b3\u00b9\u2070\u2074-\u207b])|([\u2080-\u208b])|[\u00bc-\u00be\u2150-\u215f\u2189])/gu

/**
 * Unifies compatibility forms (`ﬁ`, `Ａ`), but makes no other number of two: `10⁶` becomes `10^6`, as documents have it
 * whose raised text is formatted, `1½` becomes `1 1⁄2`.
 */
export function unifyForms(text: string): string {
  const apart = text.replace(besideOtherDigits, (_, raised?: string, lowered?: string) => {
    if (raised !== undefined) return '^'
    return lowered === undefined ? ' ' : '_'
  })
  return apart.normalize('NFKC')
}

/**
 * Unifies the spellings of a word: compatibility forms (`ﬁ`, `Ａ`), upper case, invisible characters,
 * digits of other scripts (`٠١٢`), accents of Latin and Greek letters, vowel signs and variants of Arabic
 * letters. A line break between two
 * characters of a script without spaces is not a word boundary and is removed.
 *
 * @param umlauts `written`: `ä`, `ö` and `ü` become `ae`, `oe` and `ue`; `folded`: they lose their marks like
 *   other letters
 */
export function normalise(text: string, umlauts: 'written' | 'folded' = 'written'): string {
  if (isAscii(text)) return text.toLowerCase()
  let result = unifyForms(text)
    .replace(invisibleCharacters, '')
    .toLowerCase()
    .replace(hasLetters, (letter) => letterReplacements[letter] ?? letter)
  if (mayHaveOtherDigits.test(result)) {
    result = result
      .replace(otherDigit, toDigit)
      .replace(hasArabicSeparator, (sign) => arabicSeparators[sign] ?? sign)
  }
  if (umlauts === 'written') {
    result = result.replace(hasUmlaut, (letter) => umlautReplacements[letter] ?? letter)
  }
  if (mayHaveAccents.test(result)) {
    result = result.normalize('NFD').replace(accentedLetter, '$1').normalize('NFC')
  }
  if (arabicLetters.test(result)) {
    result = result
      .replace(arabicOptional, '')
      .replace(arabicAlef, '\u0627')
      .replaceAll('\u0649', '\u064a')
      .replaceAll('\u0629', '\u0647')
  }
  return hasUnspaced.test(result) ? result.replace(lineBreakInUnspaced, '') : result
}

/** The ASCII digit with the value of a digit of another script: in Unicode the ten digits of a script are in order. */
function toDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  let value = 0
  while (value < 9 && decimalDigit.test(String.fromCodePoint(code - value - 1))) value++
  return String(value)
}

/** Whether a text is plain ASCII, which needs no normalisation but lower case. */
export function isAscii(text: string): boolean {
  return asciiOnly.test(text)
}

/** Parts of a word in scripts without spaces, and in other scripts. */
export const scriptRuns = new RegExp(`[${unspacedScripts}]+|[^${unspacedScripts}]+`, 'gu')

/** Whether a match of `scriptRuns` is in a script without spaces. */
export function isUnspaced(run: string): boolean {
  return hasUnspaced.test(run)
}
