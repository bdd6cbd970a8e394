/** Scripts without spaces between words; `scx` includes the marks that they share, such as `ー`. */
const UNSPACED = String.raw`\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}`
const LINE_BREAK_IN_UNSPACED = new RegExp(`(?<=[${UNSPACED}])\\n(?=[${UNSPACED}])`, 'gu')
const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, 'u')

// biome-ignore lint/suspicious/noControlCharactersInRegex: the class is plain ASCII
const ASCII = /^[\x00-\x7f]*$/
/** Soft hyphens, joiners and other invisible characters in words. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu
const MAY_HAVE_ACCENTS = /[\u00c0-\u03ff\u1e00-\u1fff]/
const ACCENTED = /([\p{Script=Latin}\p{Script=Greek}])\p{Mn}+/gu

/** Letters that are not accented `a`, `o` and `u`: _schön_ is not _schon_. */
const UMLAUTS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue' }
const HAS_UMLAUT = /[äöü]/g

/** Latin letters that do not decompose into a base letter and a mark. */
const LETTERS: Readonly<Record<string, string>> = {
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
const HAS_LETTERS = /[ßøæœłđðþı]/g

const ARABIC = /[\u0600-\u06ff]/
/** Vowel signs, which are mostly omitted, and the tatweel, which only stretches a word. */
const ARABIC_OPTIONAL = /[\u0640\u064b-\u0652\u0670]/g
const ARABIC_ALEF = /[\u0622\u0623\u0625\u0671]/g

/**
 * Unifies the spellings of a word: compatibility forms (`ﬁ`, `Ａ`), upper case, invisible characters,
 * accents of Latin and Greek letters, vowel signs and variants of Arabic letters. A line break between two
 * characters of a script without spaces is not a word boundary and is removed.
 *
 * @param umlauts `written`: `ä`, `ö` and `ü` become `ae`, `oe` and `ue`; `folded`: they lose their marks like
 *   other letters
 */
export function normalise(text: string, umlauts: 'written' | 'folded' = 'written'): string {
  if (isAscii(text)) return text.toLowerCase()
  let result = text
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .toLowerCase()
    .replace(HAS_LETTERS, (letter) => LETTERS[letter] ?? letter)
  if (umlauts === 'written') {
    result = result.replace(HAS_UMLAUT, (letter) => UMLAUTS[letter] ?? letter)
  }
  if (MAY_HAVE_ACCENTS.test(result)) {
    result = result.normalize('NFD').replace(ACCENTED, '$1').normalize('NFC')
  }
  if (ARABIC.test(result)) {
    result = result
      .replace(ARABIC_OPTIONAL, '')
      .replace(ARABIC_ALEF, '\u0627')
      .replaceAll('\u0649', '\u064a')
      .replaceAll('\u0629', '\u0647')
  }
  return HAS_UNSPACED.test(result) ? result.replace(LINE_BREAK_IN_UNSPACED, '') : result
}

/** Whether a text is ASCII, which needs no normalisation but lower case. */
export function isAscii(text: string): boolean {
  return ASCII.test(text)
}

/** Parts of a word in scripts without spaces, and in other scripts. */
export const RUNS = new RegExp(`[${UNSPACED}]+|[^${UNSPACED}]+`, 'gu')

/** Whether a match of `RUNS` is in a script without spaces. */
export function isUnspaced(run: string): boolean {
  return HAS_UNSPACED.test(run)
}
