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
 * The distinct words of a text that may be found by words like them, in no order.
 *
 * @param text in the form of `toIndexText`
 * @param known words that need not be listed again; those of the text are added
 */
export function toNewWords(text: string, known: Set<string>): ListedWord[] {
  const words: ListedWord[] = []
  for (const word of text.split(' ')) {
    if (known.has(word)) continue
    known.add(word)
    if (LISTED_ASCII.test(word) || (LISTED.test(word) && !isUnspaced(word))) {
      words.push({ word, reversed: reverse(word) })
    }
  }
  return words
}

/** A word from its end to its beginning, character by character. */
export function reverse(word: string): string {
  return [...word].reverse().join('')
}
