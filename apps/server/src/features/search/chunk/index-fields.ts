import { toIndexText } from '../text/index-text.js'
import type { Passage } from './passage.js'

/** What of `indexing.configuration` decides how a passage is found. */
export interface ContextOptions {
  /** Whether the headings above a passage count for finding it; they do by default. */
  embedBreadcrumb?: boolean
  /** How many of the headings above count, the nearest first; all by default. */
  embeddedContextLevels?: number
}

/** The two fields under which a passage is indexed, as words in the form of `toIndexText`. */
export interface IndexFields {
  /** Its own headings and those above it. */
  headings: string
  /** Its content. */
  body: string
}

/** Where a link or an image points says less about a passage than what it is called. */
const DESTINATION = /\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"\n]*")?\)/g

/** What the keyword index holds of a passage. */
export function toIndexFields(
  passage: Pick<Passage, 'content' | 'headings' | 'ownHeadings'>,
  options: ContextOptions = {},
): IndexFields {
  const headings = [...contextHeadings(passage.headings, options), ...passage.ownHeadings]
  return {
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
