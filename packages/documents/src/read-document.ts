import { chunkDocument } from './chunking/chunk-document.js'
import type { ChunkOptions, Passage } from './chunking/passage.js'
import type { Source } from './document/extraction.js'
import { ExtractionError, isStackOverflow } from './document/extraction-error.js'
import { extract } from './extract.js'
import { addNameTitle } from './text/file-name.js'

/** A document as passages. */
export interface ReadDocument {
  /** Title of the document, if it states one. */
  title?: string
  /** Number of pages or slides, in formats that have any. */
  pages?: number
  /** In order; never empty. The name of the file stands above them if the document states no title. */
  passages: Passage[]
}

/**
 * Reads a file of any supported format and cuts it into passages.
 *
 * @param onExtracted called between reading and cutting
 * @throws ExtractionError if the file cannot be indexed
 */
export async function readDocument(
  source: Source,
  options: ChunkOptions,
  onExtracted?: () => void,
): Promise<ReadDocument> {
  try {
    const extraction = await extract(source)
    onExtracted?.()
    const { title, pages } = extraction
    return {
      ...(title !== undefined && { title }),
      ...(pages !== undefined && { pages }),
      passages: addNameTitle(chunkDocument(extraction, options), source.key),
    }
  } catch (error) {
    throw toRefusal(error) ?? error
  }
}

/**
 * The refusal of a document that an error stands for; undefined if the document is not the cause.
 * All parsers are bounded before they recurse; should one run out of stack all the same, it ends here.
 */
export function toRefusal(error: unknown): ExtractionError | undefined {
  if (error instanceof ExtractionError) return error
  if (!isStackOverflow(error)) return undefined
  return new ExtractionError(
    'too_deep',
    'The document nests its parts too deeply. Flatten it and upload it again.',
    { cause: error },
  )
}
