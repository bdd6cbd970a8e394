import { normalise } from './normalise.js'

const WORDS = /[\p{L}\p{M}]+/gu
const UMLAUTS: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  å: 'aa',
  ø: 'oe',
}
const HAS_UMLAUT = /[äöüåø]/g
const WRITTEN_OUT = /([aou])e|aa/g
/** Vowels that are looked at in one word: each doubles its spellings, and every one is compared with many words. */
const maximumVowels = 4

/**
 * Other spellings of the words of a question: with `ae`, `oe`, `ue`, `aa` for letters that the index
 * holds without their marks, and without where they were written out. By the word as the index has it.
 */
export function toSpellings(text: string): Map<string, string[]> {
  const spellings = new Map<string, string[]>()
  for (const [raw] of text.normalize('NFKC').toLowerCase().matchAll(WORDS)) {
    const word = normalise(raw)
    const writtenOut = normalise(raw.replace(HAS_UMLAUT, (letter) => UMLAUTS[letter] ?? letter))
    const others = new Set([writtenOut, ...withoutSecondVowels(word)])
    others.delete(word)
    if (others.size > 0) spellings.set(word, [...others])
  }
  return spellings
}

/** The word with each combination of its `ae`, `oe`, `ue` and `aa` as one letter. */
function withoutSecondVowels(word: string): string[] {
  const places = [...word.matchAll(WRITTEN_OUT)]
    .map(({ index }) => index + 1)
    .slice(0, maximumVowels)
  const combinations = Array.from({ length: 2 ** places.length - 1 }, (_, at) => at + 1)
  return combinations.map((chosen) =>
    [...word]
      .filter((_, at) => !(chosen & (1 << places.indexOf(at))) || !places.includes(at))
      .join(''),
  )
}
