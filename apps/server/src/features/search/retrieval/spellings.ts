import { normalise } from '@botstead/documents/text'

const words = /[\p{L}\p{M}]+/gu
/** Letters of the north that the index holds without their marks. */
const writtenOutAs: Readonly<Record<string, string>> = { å: 'aa', ø: 'oe' }
const hasLetter = /[åø]/g
const secondVowels = /([aou])e|aa/g
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
  for (const [raw] of text.normalize('NFKC').toLowerCase().matchAll(words)) {
    const word = normalise(raw)
    const writtenOut = normalise(raw.replace(hasLetter, (letter) => writtenOutAs[letter] ?? letter))
    const similar = new Set([writtenOut, ...withoutSecondVowels(word)])
    similar.delete(word)
    spellings.set(word, { similar: [...similar], marked: withMarks(word) })
  }
  return spellings
}

/** The word with each combination of its `ae`, `oe`, `ue` and `aa` as one letter. */
function withoutSecondVowels(word: string): string[] {
  const positions = [...word.matchAll(secondVowels)]
    .map(({ index }) => index + 1)
    .slice(0, maximumVowels)
  const combinations = Array.from({ length: 2 ** positions.length - 1 }, (_, at) => at + 1)
  return combinations.map((chosen) =>
    [...word]
      .filter((_, at) => !(chosen & (1 << positions.indexOf(at))) || !positions.includes(at))
      .join(''),
  )
}

/** What `normalise` makes of `ä`, `ö` and `ü`, and what people make of them without such keys. */
const umlautWrittenOut = /([aou])e/g

/** A word with `a`, `o` and `u` for all that may be umlauts. */
export function withoutMarks(word: string): string {
  return word.replace(umlautWrittenOut, '$1')
}

/** The word with each combination of its `a`, `o` and `u` as umlauts: `brucke` gives `bruecke`. */
function withMarks(word: string): string[] {
  const positions = [...word.matchAll(/[aou](?!e)/g)]
    .map(({ index }) => index)
    .slice(0, maximumVowels)
  const combinations = Array.from({ length: 2 ** positions.length - 1 }, (_, at) => at + 1)
  return combinations.map((chosen) =>
    [...word]
      .map((letter, at) =>
        chosen & (1 << positions.indexOf(at)) && positions.includes(at) ? `${letter}e` : letter,
      )
      .join(''),
  )
}
