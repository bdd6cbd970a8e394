import {
  type ChunkOptions,
  ExtractionError,
  type ExtractionFailure,
  type Passage,
} from '@botstead/documents'
import type { ContextOptions, IndexFields, ListedWord } from '@botstead/documents/text'

/** The parts of a passage that decide by which words it is found. */
export type PassageText = Pick<Passage, 'content' | 'headings' | 'ownHeadings'>

/** The words by which a passage is found. */
export interface PassageWords {
  /** Those of the keyword index. */
  fields: IndexFields
  /** Those for the list of the bot's words that no passage before it in the same task has. */
  words: ListedWord[]
}

export interface IngestedPassage extends Passage, PassageWords {}

/** The result of reading a file. */
export interface Ingestion {
  /** The document's title, if it states one. */
  title?: string
  /** Number of pages or slides, in formats that have any. */
  pages?: number
  /** In order; never empty, unless they were given. */
  passages: IngestedPassage[]
  /** Options of the configuration that need a model and were not followed, such as `parsing.mode`. */
  notApplied: string[]
}

/** Where a worker finds the content of a file: on disk, which is cheaper, or in a buffer that is copied. */
export type WorkerContent = { path: string } | { bytes: Uint8Array }

/** How far the work on a file is. */
export interface IngestProgress {
  /** What is being done: the content is read, or cut into passages. */
  step: 'extract' | 'chunk'
  /** Pages or slides read so far, in formats that have any. */
  pages?: number
  /** Passages made so far. */
  passages?: number
  /** From 0 to 100, never falling; what is left after reading counts too. */
  percent: number
}

/** One file for a worker. */
export interface DocumentInput {
  content: WorkerContent
  /** Whether the content is passages that a caller gave, as JSON. */
  isPassages?: boolean
  contentType: string
  key: string
  /** SHA-256 that the content must have, in hex; unchecked without. */
  sha256?: string
  /** Size above which the content is not even read. */
  maximumBytes: number
  /** Pages above which a document is refused. */
  maximumPages: number
  /** What the parts of a packed document may have together when they are unpacked, in bytes. */
  maximumUnpackedBytes: number
  chunking: ChunkOptions
  context: ContextOptions
}

/** Passages that are cut already and whose words are wanted. */
export interface TextsInput {
  /** Of the file that they are found in. */
  key: string
  texts: readonly PassageText[]
  context: ContextOptions
}

export type IngestInput = DocumentInput | TextsInput

/** Passages of a file, or the words of texts, in order: they are sent before the output, some at a time. */
export type IngestPiece = { passages: IngestedPassage[] } | { words: PassageWords[] }

/** The output of a worker; that a file cannot be indexed is an output too. */
export type IngestOutput =
  | Omit<Ingestion, 'passages' | 'notApplied'>
  | { failure: ExtractionFailure; message: string }

/**
 * A content that the storage of the server has lost or changed.
 *
 * @param what happened to it
 */
export function lostContent(what: string): ExtractionError {
  return new ExtractionError(
    'lost',
    `${what}: the storage of the server lost it. Upload the file again. ` +
      'The operator of the server can find all such files with "botstead check --contents".',
  )
}
