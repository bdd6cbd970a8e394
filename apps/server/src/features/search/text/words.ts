import { isUnspaced } from './normalise.js'

/** A word as a list of words holds it: forwards, and backwards to be found by its end. */
export interface ListedWord {
  word: string
  reversed: string
}

/** Shorter words have too many neighbours that mean something else; longer ones are no words. */
const LISTED = /^[\p{L}\p{M}]{4,40}$/u
/** The same for most words, in a fraction of the time. */
const LISTED_ASCII = /^[a-z]{4,40}$/

/**
 * The distinct words of texts that may be found by words like them, in order.
 *
 * @param texts in the form of `toIndexText`
 */
export function toWords(texts: readonly string[]): ListedWord[] {
  const words = new Set(texts.flatMap((text) => text.split(' ')))
  return [...words]
    .filter((word) => LISTED_ASCII.test(word) || (LISTED.test(word) && !isUnspaced(word)))
    .sort()
    .map((word) => ({ word, reversed: reverse(word) }))
}

/** A word from its end to its beginning, character by character. */
export function reverse(word: string): string {
  return [...word].reverse().join('')
}
