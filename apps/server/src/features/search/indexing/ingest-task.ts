import {
  type ChunkOptions,
  ExtractionError,
  type ExtractionFailure,
  type Passage,
  type Reading,
} from '@botstead/documents'
import type { ContextOptions, IndexFields, ListedWord } from '@botstead/documents/text'

/** The parts of a passage that determine its words. */
export type PassageText = Pick<Passage, 'content' | 'headings' | 'ownHeadings'>

/** The words by which a passage is found. */
export interface PassageWords {
  /** The words of the keyword index. */
  fields: IndexFields
  /** The words for the vocabulary of the bot that no earlier passage of the task has. */
  words: ListedWord[]
}

export interface IngestedPassage extends Passage, PassageWords {}

/** The parts of a content that search keeps. */
export interface IndexedContent {
  /** In order; not empty, unless a caller gave them. */
  passages: IngestedPassage[]
  /** The omissions; undefined if they are not known, for example because a caller gave the passages. */
  reading?: Reading | undefined
}

/** The result of reading a file. */
export interface Ingestion extends IndexedContent {
  /** The document's title, if it states one. */
  title?: string
  /** Number of pages or slides, in formats that have them. */
  pages?: number
}

/** The content of a file for a worker: on disk, which is cheaper, or in a buffer that is copied. */
export type WorkerContent = { path: string } | { bytes: Uint8Array }

/** The progress of work on a file. */
export interface IngestProgress {
  /** The current step: the content is read, or cut into passages. */
  step: 'extract' | 'chunk'
  /** Pages or slides read so far, in formats that have them. */
  pages?: number
  /** Passages made so far. */
  passages?: number
  /** From 0 to 100, never decreasing; includes the work after reading. */
  percent: number
}

/** A file for a worker. */
export interface DocumentInput {
  content: WorkerContent
  /** Whether the content consists of passages from a caller, as JSON. */
  isPassages?: boolean
  contentType: string
  key: string
  /** SHA-256 that the content must have, in hex; not checked if missing. */
  sha256?: string
  /** Size above which the content is not read at all. */
  maxBytes: number
  /** Pages above which a document is refused. */
  maxPages: number
  /** Bytes that the parts of a packed document may have in total when unpacked. */
  maxUnpackedBytes: number
  /** Milliseconds that reading may take, from which the bounds of processor time follow. */
  timeLimitMs: number
  /** Whether a document of which more than half could not be read is accepted. */
  allowPartial: boolean
  chunking: ChunkOptions
  context: ContextOptions
}

/** Passages that exist already and whose words are requested. */
export interface TextsInput {
  /** Key of the file that contains them. */
  key: string
  texts: readonly PassageText[]
  context: ContextOptions
}

export type IngestInput = DocumentInput | TextsInput

/** Passages of a file, or the words of texts, in order: sent before the output, in batches. */
export type IngestPiece = { passages: IngestedPassage[] } | { words: PassageWords[] }

/** The output of a worker; a file that cannot be indexed also results in an output. */
export type IngestOutput =
  | Omit<Ingestion, 'passages'>
  | { failure: ExtractionFailure; message: string; reading?: Reading | undefined }

/**
 * The error for a content that the storage of the server has lost or changed.
 *
 * @param what a description of the damage
 */
export function lostContent(what: string): ExtractionError {
  return new ExtractionError(
    'lost',
    `${what}: the storage of the server lost it. Upload the file again. ` +
      'The operator of the server can find all such files with "botstead check --contents".',
  )
}
