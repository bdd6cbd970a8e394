import type { Neighbourhood } from '../vocabulary-store.js'
import { editDistance } from './edit-distance.js'

/** A word of a question for which others are looked for. */
export interface WideWord {
  word: string
  /** How it may be spelt otherwise. */
  spellings: readonly string[]
  /** Whether no passage has it. What passages have is only looked for as the last part of longer words. */
  isMissing: boolean
}

/** Shorter words have too many neighbours that mean something else. */
const shortestWidened = 4
const longestWidened = 40
/** Words of a query that are widened, the longest first: they say most. */
const maximumWords = 8
const maximumNeighbours = 20
/** Letters that the first part of a compound must have, so that `port` is not found in `support`. */
const shortestHead = 4
const shortestHeadOfMissing = 2
const shortestPart = 4

/** What German, Dutch and Scandinavian words end with when they are declined, longest first. */
const endings = ['ern', 'ens', 'ar', 'or', 'en', 'er', 'es', 'et', 'em', 'na', 'e', 'n', 's', '']

/** What finding a word is worth that is only like the one that was asked for. */
const worths = { spelling: 0.95, typo: 0.85, typos: 0.7, longer: 0.8, compound: 0.7, part: 0.9 }

/** The words for which others are worth looking for. */
export function toWideWords(words: readonly WideWord[]): WideWord[] {
  return words
    .filter(({ word, spellings }) => word.length >= shortestWidened || spellings.length > 0)
    .filter(({ word }) => word.length <= longestWidened && /^[\p{L}\p{M}]+$/u.test(word))
    .sort((a, b) => Number(b.isMissing) - Number(a.isMissing) || b.word.length - a.word.length)
    .slice(0, maximumWords)
}

/** Where in a list of words to look for neighbours of the words of a question. */
export function neighbourhood(wide: readonly WideWord[]): Neighbourhood {
  const missing = wide.filter(({ isMissing }) => isMissing).map(({ word }) => word)
  const typed = missing.filter(({ length }) => length >= shortestWidened)
  const ways = wide.flatMap(({ word, spellings, isMissing }) =>
    isMissing ? [word, ...spellings] : [word],
  )
  const tails = ways.flatMap((word) => endings.map((ending) => stemOf(word) + ending))
  return {
    // People rarely mistype both the beginning and the end of a word.
    prefixes: distinct(typed.map((word) => word.slice(0, 2))),
    suffixes: distinct([...typed.map((word) => word.slice(-3)), ...tails]),
    words: distinct([
      ...typed.flatMap(toParts),
      ...wide.flatMap(({ isMissing, spellings }) => (isMissing ? spellings : [])),
    ]),
  }
}

/**
 * Words in place of others: other spellings, words that differ by a typing error or two, longer words that
 * begin or end with the word, and parts of it. Each with what finding it is worth, from 0 to 1.
 *
 * @param listed words in the {@link neighbourhood}
 */
export function toSubstitutes(
  wide: readonly WideWord[],
  listed: readonly string[],
): Map<string, Map<string, number>> {
  const found = wide.map((each): [string, Map<string, number>] => {
    const near = listed
      .map((other): [string, number] => [other, worthOf(each, other)])
      .filter(([, worth]) => worth > 0)
      .sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
    return [each.word, new Map(near.slice(0, maximumNeighbours))]
  })
  return new Map(found.filter(([, near]) => near.size > 0))
}

function worthOf({ word, spellings, isMissing }: WideWord, other: string): number {
  if (word === other) return 0
  if (!isMissing) return headLength(word, other) >= shortestHead ? worths.compound : 0
  const worth = worthOfMissing(word, other)
  return spellings.reduce(
    (most, each) => Math.max(most, worths.spelling * worthOfMissing(each, other)),
    worth,
  )
}

function worthOfMissing(word: string, other: string): number {
  if (word === other) return 1
  if (word.length < shortestWidened) return 0
  if (other.startsWith(word)) return worths.longer
  const allowed = word.length >= 8 ? 2 : 1
  const edits = editDistance(word, other, allowed)
  if (edits <= allowed) return edits === 1 ? worths.typo : worths.typos
  if (headLength(word, other) >= shortestHeadOfMissing) return worths.compound
  const isPart = word.startsWith(other) || word.endsWith(other)
  return isPart ? (worths.part * other.length) / word.length : 0
}

/** Letters before a word, in a longer one that ends with it or with a form of it; -1 if it does not. */
function headLength(word: string, longer: string): number {
  const stem = stemOf(word)
  const ending = endings.find((each) => longer.endsWith(stem + each))
  return ending === undefined ? -1 : longer.length - stem.length - ending.length
}

/** A word without its ending, as far as enough is left of it. */
function stemOf(word: string): string {
  const ending = endings.find(
    (each) => word.endsWith(each) && word.length - each.length >= shortestPart,
  )
  return word.slice(0, word.length - (ending ?? '').length)
}

/** What a compound may be made of: its beginnings and its ends. */
function toParts(word: string): string[] {
  const found: string[] = []
  for (let at = shortestPart; at < word.length; at++) found.push(word.slice(0, at))
  for (let at = 1; at <= word.length - shortestPart; at++) found.push(word.slice(at))
  return found
}

function distinct(words: readonly string[]): string[] {
  return [...new Set(words)]
}
