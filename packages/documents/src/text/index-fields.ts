import type { Passage } from '../chunking/passage.js'
import { toFileName, toNameTitle } from './file-name.js'
import { toIndexText } from './index-text.js'
import { isUnspaced } from './normalise.js'

/** What of `indexing.configuration` decides how a passage is found. */
export interface ContextOptions {
  /** Whether the headings above a passage count for finding it; they do by default. */
  embedBreadcrumb?: boolean
  /** How many of the headings above count, the nearest first; all by default. */
  embeddedContextLevels?: number
}

/** The fields under which a passage is indexed, as words in the form of `toIndexText`. */
export interface IndexFields {
  /** The folders of its file. */
  folders: string
  /** The name of its file. */
  name: string
  /** Its own headings and those above it. */
  headings: string
  /** Its content. */
  body: string
}

/** Where a link or an image points says less about a passage than what it is called. */
const DESTINATION = /\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"\n]*")?\)/g

/**
 * What the keyword index holds of a passage.
 *
 * @param key of its file
 */
export function toIndexFields(
  passage: Pick<Passage, 'content' | 'headings' | 'ownHeadings'>,
  key: string,
  options: ContextOptions = {},
): IndexFields {
  const [first, ...below] = passage.headings
  // The name that stands in for a title is a field of its own.
  const above = first !== undefined && first === toNameTitle(key) ? below : passage.headings
  const headings = [...contextHeadings(above, options), ...passage.ownHeadings]
  const { folders, name } = toFileName(key)
  return {
    folders: toIndexText(folders),
    name: toIndexText(name),
    headings: toIndexText(headings.join('\n\n')),
    body: toIndexText(passage.content.replace(DESTINATION, ']')),
  }
}

/** What an embedding is made of: the passage below the headings that lead to it. */
export function toEmbeddingText(
  passage: Pick<Passage, 'content' | 'headings'>,
  options: ContextOptions = {},
): string {
  return [...contextHeadings(passage.headings, options), passage.content].join('\n\n')
}

function contextHeadings(headings: readonly string[], options: ContextOptions): readonly string[] {
  if (options.embedBreadcrumb === false) return []
  const levels = Math.max(0, Math.trunc(options.embeddedContextLevels ?? headings.length))
  return levels === 0 ? [] : headings.slice(-levels)
}

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
