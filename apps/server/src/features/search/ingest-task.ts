import type { ContextOptions, IndexFields } from './chunk/index-fields.js'
import type { ChunkOptions, Passage } from './chunk/passage.js'
import type { ExtractionFailure } from './extract/extraction-error.js'

/** A passage with the words under which the keyword index holds it. */
export interface IngestedPassage extends Passage {
  fields: IndexFields
}

/** What becomes of a file. */
export interface Ingestion {
  /** The document's title, if it states one. */
  title?: string
  /** In order; never empty. */
  passages: IngestedPassage[]
}

/** Where the content of a file is: on disk, which is cheaper, or in a buffer that is copied. */
export type Content = { path: string } | { bytes: Uint8Array }

/** One file for a worker. */
export interface IngestInput {
  content: Content
  contentType: string
  key: string
  /** Size above which the content is not even read. */
  maximumBytes: number
  chunking: ChunkOptions
  context: ContextOptions
}

/** A worker's answer; a file that cannot be indexed is an answer too. */
export type IngestOutput = Ingestion | { failure: ExtractionFailure; message: string }
