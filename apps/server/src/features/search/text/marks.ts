/** What `normalise` makes of `ä`, `ö` and `ü`, and what people make of them without such keys. */
const WRITTEN_OUT = /([aou])e/g
/** Vowels that are looked at in one word: each doubles its spellings. */
const maximumVowels = 4

/** A word with `a`, `o` and `u` for all that may be umlauts. */
export function withoutMarks(word: string): string {
  return word.replace(WRITTEN_OUT, '$1')
}

/** The word with each combination of its `a`, `o` and `u` as umlauts: `brucke` gives `bruecke`. */
export function withMarks(word: string): string[] {
  const places = [...word.matchAll(/[aou](?!e)/g)].map(({ index }) => index).slice(0, maximumVowels)
  const combinations = Array.from({ length: 2 ** places.length - 1 }, (_, at) => at + 1)
  return combinations.map((chosen) =>
    [...word]
      .map((letter, at) =>
        chosen & (1 << places.indexOf(at)) && places.includes(at) ? `${letter}e` : letter,
      )
      .join(''),
  )
}
