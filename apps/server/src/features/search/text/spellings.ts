import { normalise } from '@botstead/documents/text'
import { withMarks } from './marks.js'

const WORDS = /[\p{L}\p{M}]+/gu
/** Letters of the north that the index holds without their marks. */
const WRITTEN: Readonly<Record<string, string>> = { å: 'aa', ø: 'oe' }
const HAS_LETTER = /[åø]/g
const WRITTEN_OUT = /([aou])e|aa/g
/** Vowels that are looked at in one word: each doubles its spellings, and every one is compared with many words. */
const maximumVowels = 4

/** How a word of a question may be spelt otherwise. */
export interface Spellings {
  /** With one letter where it has `ae`, `oe`, `ue`, `aa`, or with these where the index has one. */
  similar: readonly string[]
  /** With umlauts where it has none: many, of which only words that are just so count. */
  marked: readonly string[]
}

/** Other spellings of the words of a question, by the word as the index has it. */
export function toSpellings(text: string): Map<string, Spellings> {
  const spellings = new Map<string, Spellings>()
  for (const [raw] of text.normalize('NFKC').toLowerCase().matchAll(WORDS)) {
    const word = normalise(raw)
    const writtenOut = normalise(raw.replace(HAS_LETTER, (letter) => WRITTEN[letter] ?? letter))
    const similar = new Set([writtenOut, ...withoutSecondVowels(word)])
    similar.delete(word)
    spellings.set(word, { similar: [...similar], marked: withMarks(word) })
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
