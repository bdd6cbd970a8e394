import { ExtractionError } from './extraction-error.js'
import type { Source } from './extractor.js'

/**
 * Refuses a document with more pages than are indexed, before the first of them is read.
 *
 * @param name of what is counted, in the plural
 */
export function requirePages(count: number, source: Source, name: string): void {
  const limit = source.maximumPages ?? Number.POSITIVE_INFINITY
  if (count <= limit) return
  throw new ExtractionError(
    'too_many_pages',
    `The document has ${count} ${name}; at most ${limit} can be indexed. ` +
      'Split it into several files, or raise BOTSTEAD_INDEXING_PAGES.',
  )
}

/** Counts text while it is read, so that what cannot be indexed anyway is not read to its end. */
export function createTextLimit(source: Source): (text: string) => void {
  const limit = source.maximumLength ?? Number.POSITIVE_INFINITY
  let length = 0
  return (text) => {
    length += text.length
    if (length <= limit) return
    throw new ExtractionError(
      'too_large',
      `The document has more than ${limit.toLocaleString('en')} characters of text, the most that can be indexed. Split it into several files.`,
    )
  }
}
