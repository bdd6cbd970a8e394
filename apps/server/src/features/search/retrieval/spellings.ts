import { normalise } from '@botstead/documents/text'

const words = /[\p{L}\p{M}]+/gu
/** Scandinavian letters that the index stores without their marks. */
const writtenOutAs: Readonly<Record<string, string>> = { å: 'aa', ø: 'oe' }
const hasLetter = /[åø]/g
const secondVowels = /([aou])e|aa/g
/** Vowels that are varied in one word: each doubles its spellings, which are all compared with many words. */
const maximumVowels = 4

/** Alternative spellings of a word of a question. */
export interface Spellings {
  /** With one letter for `ae`, `oe`, `ue`, `aa`, or with these for one letter of the index. */
  similar: readonly string[]
  /** With umlauts where it has none: many, which must match exactly. */
  marked: readonly string[]
}

/** Alternative spellings of the words of a question, by the word as it is in the index. */
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

/** The forms that `normalise` makes of `ä`, `ö` and `ü`, and that people type without such keys. */
const umlautWrittenOut = /([aou])e/g

/** A word with `a`, `o` and `u` for all possible umlauts. */
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
