import { hasHiddenWords, toHiddenWords } from './hidden-words.js'
import { isAscii, isUnspaced, RUNS } from './normalise.js'

/** Longer words are cut: no one types them, and Postgres refuses a query with one over 2 kB. */
const LONGEST_TOKEN = 64
const ASCII_WORDS = /[a-z0-9]+/g
const WORDS = /[\p{L}\p{N}\p{M}]+/gu

/** A stretch of a word in one way of writing: either a spaced word, or a run of CJK characters. */
export interface Run {
  text: string
  /** Whether the script has no spaces, so that the run is indexed as pairs of characters. */
  unspaced: boolean
}

/** The runs of a normalised text in order; everything that is neither letter nor digit separates. */
export function toRuns(normalised: string): Run[] {
  const runs: Run[] = []
  for (const [word] of normalised.matchAll(WORDS)) {
    if (isAscii(word)) {
      runs.push(toSpacedRun(word))
      continue
    }
    for (const [text] of word.matchAll(RUNS)) {
      if (isUnspaced(text)) runs.push({ text, unspaced: true })
      else if (hasHiddenWords(text)) runs.push(...toHiddenWords(text).map(toSpacedRun))
      else runs.push(toSpacedRun(text))
    }
  }
  return runs
}

/** The same tokens as by way of runs, in a tenth of the time: most text is like this. */
export function toAsciiTokens(normalised: string): string[] {
  return (normalised.match(ASCII_WORDS) ?? []).map(shorten)
}

function toSpacedRun(text: string): Run {
  return { text: shorten(text), unspaced: false }
}

/** The overlapping pairs of characters of a run: `東京都` gives `東京`, `京都`. */
export function toBigrams(run: string): string[] {
  const characters = [...run]
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}

/**
 * The tokens under which a run is indexed. A CJK run ends with its last character alone, so that
 * every character begins some token and a query of one character can be answered by prefix.
 */
export function toIndexTokens(run: Run): string[] {
  if (!run.unspaced) return [run.text]
  return [...toBigrams(run.text), ...[...run.text].slice(-1)]
}

function shorten(word: string): string {
  // By code points, so that no character outside the basic plane is cut in half.
  return word.length > LONGEST_TOKEN ? [...word].slice(0, LONGEST_TOKEN).join('') : word
}
