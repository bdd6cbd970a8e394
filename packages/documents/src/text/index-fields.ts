import type { Passage } from '../chunking/passage.js'
import { toFileName, toNameTitle } from './file-name.js'
import { toIndexText } from './index-text.js'
import { isUnspaced } from './normalise.js'

/** The part of `indexing.configuration` that decides by which words a passage is found. */
export interface ContextOptions {
  /** Whether a passage is found by the headings above it; true by default. */
  embedBreadcrumb?: boolean
  /** Number of these headings, the nearest first; all by default. */
  embeddedContextLevels?: number
}

/** The fields of a passage in the keyword index, in the form of `toIndexText`. */
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

/** The target of a link or an image, which says little about a passage. */
const linkDestination = /\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"\n]*")?\)/g

/**
 * The fields of a passage for the keyword index.
 *
 * @param key of its file
 */
export function toIndexFields(
  passage: Pick<Passage, 'content' | 'headings' | 'ownHeadings'>,
  key: string,
  options: ContextOptions = {},
): IndexFields {
  const [first, ...below] = passage.headings
  // A title made from the name of the file is in the field `name` already.
  const above = first !== undefined && first === toNameTitle(key) ? below : passage.headings
  const headings = [...contextHeadings(above, options), ...passage.ownHeadings]
  const { folders, name } = toFileName(key)
  return {
    folders: toIndexText(folders),
    name: toIndexText(name),
    headings: toIndexText(headings.join('\n\n')),
    body: toIndexText(passage.content.replace(linkDestination, ']')),
  }
}

/** The text to embed: the passage below the headings above it. */
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

/** A word in the vocabulary, also reversed so that it is found by its ending. */
export interface ListedWord {
  word: string
  reversed: string
}

/** Shorter words resemble too many words of other meaning; longer ones are not words. */
const listedWord = /^[\p{L}\p{M}]{4,40}$/u
/** The same for ASCII words, in a fraction of the time. */
const listedAsciiWord = /^[a-z]{4,40}$/

/**
 * The distinct words of a text for the vocabulary, which finds similar words.
 *
 * @param text in the form of `toIndexText`
 * @param known words that are listed already; those of the text are added
 */
export function toNewWords(text: string, known: Set<string>): ListedWord[] {
  const words: ListedWord[] = []
  for (const word of text.split(' ')) {
    if (known.has(word)) continue
    known.add(word)
    if (listedAsciiWord.test(word) || (listedWord.test(word) && !isUnspaced(word))) {
      words.push({ word, reversed: reverse(word) })
    }
  }
  return words
}

/** Reverses a word by characters. */
export function reverse(word: string): string {
  return [...word].reverse().join('')
}
