import type { Root } from 'mdast'
import type { Omission, Omissions, Reading } from './omissions.js'
import { shorten, showable } from './storable.js'

declare module 'mdast' {
  interface Data {
    /** Page on which the node begins, from 1, in formats that have pages. */
    pageNumber?: number
    /** In a text of several lines, such as code: the lines with which another page begins. */
    pageBreaks?: readonly PageBreak[]
    /** Of the first heading: it is the title of the whole document. */
    isTitle?: boolean
  }
}

/** A line of a text with which another page begins. */
interface PageBreak {
  /** From 0. */
  line: number
  /** From 1. */
  page: number
}

/** A file to be read, and the limits for it. */
export interface Source {
  bytes: Uint8Array
  /** Media type as stored with the file, parameters such as `charset` included. */
  contentType: string
  /** Key of the file; its extension decides the format if the media type does not. */
  key: string
  /** UTF-16 units of text that can be indexed; an extractor may stop reading beyond. */
  maxLength?: number
  /** Pages, slides or chapters above which a document is refused. */
  maxPages?: number
  /** Bytes that the parts of a packed document may have together when they are unpacked. */
  maxUnpackedBytes?: number
  /** Number of documents around this one, 0 by default. */
  level?: number
  /** Count and size of all embedded files of the outermost document so far. */
  inner?: InnerFiles
  /** Reads a file inside of this one with the reader of its format. */
  readInner?(inner: Source): Promise<Extraction>
  /** Collects the omissions of a reader of text; added to `Extraction.omissions` of the result. */
  omissions?: Omissions
  /** Whether a document is accepted although more than half of it could not be read. */
  allowPartial?: boolean
  /** Called after each page, slide or chapter. */
  onPage?(done: number, total: number): void
  /** Called when a step begins: a short one takes seconds at most in an honest document, such as a page of a PDF. */
  onStep?(length: 'short' | 'any'): void
}

/** Number and size of the files inside of one document, on all levels together. */
export interface InnerFiles {
  count: number
  unpackedBytes: number
}

/** The text of a document as a Markdown tree: the output of the reader of every format, and the input of chunking. */
export interface Extraction {
  root: Root
  /** Title of the whole document, if it has one. */
  title?: string
  /** Number of pages, in formats that have pages. */
  pages?: number
  /** Omissions; absent if there are none. */
  omissions?: Omission[]
  /** As in `Reading`. */
  parts?: Reading['parts']
}

/** The exports of the module of a format. */
export interface Extractor {
  /**
   * @throws ExtractionError if the content is not valid in the format
   */
  extract(source: Source): Promise<Extraction>
}

/**
 * Reasons for which a file cannot be indexed; the author of the file can act on each of them. `lost`, `too_slow` and
 * `too_much_memory` are detected by the program that stores the file and runs the reader.
 */
export const extractionFailures = [
  'unsupported',
  'binary',
  'damaged',
  'lost',
  'protected',
  'no_text',
  'empty',
  'mostly_unread',
  'too_deep',
  'too_many_passages',
  'too_many_pages',
  'too_large',
  'too_slow',
  'too_much_memory',
] as const

export type ExtractionFailure = (typeof extractionFailures)[number]

/**
 * A file that will not become searchable at any further attempt.
 * The message is shown to the author of the file: it states the cause and advice.
 */
export class ExtractionError extends Error {
  override readonly name = 'ExtractionError'
  /** The kind of failure, for counting and for tests. */
  readonly failure: ExtractionFailure
  /** The omissions found so far; undefined if there are none. */
  readonly reading?: Reading

  constructor(
    failure: ExtractionFailure,
    message: string,
    options?: ErrorOptions & { reading?: Reading | undefined },
  ) {
    super(shorten(showable(message), maxMessageLength), options)
    this.failure = failure
    const { reading } = options ?? {}
    if (reading !== undefined && reading.omissions.length > 0) this.reading = reading
  }
}

/** Maximum characters of a message: it is stored in the row of the file, and contains names that the file chooses. */
const maxMessageLength = 2000

/**
 * A file that is not of the format that its name and type state, or is incomplete.
 *
 * @param what the format with its article, such as `a Word document`
 */
export function damaged(what: string, cause: unknown): ExtractionError {
  const detail = cause instanceof Error ? cause.message : String(cause)
  return new ExtractionError(
    'damaged',
    `The file cannot be read as ${what}: it is damaged or of another format (${oneLine(detail)}). ` +
      'Open it in the program that created it, save it and upload it again.',
    { cause },
  )
}

/** A file that is encrypted with a password. */
export function passwordProtected(what: string): ExtractionError {
  return new ExtractionError(
    'protected',
    `The file is ${what} protected by a password. Save it without the password and upload it again.`,
  )
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 200).replace(/\.$/, '')
}

/**
 * Runs a reader, and converts its errors about a broken part to one for the author.
 *
 * @param what as in {@link damaged}
 */
export async function readingAs<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ExtractionError || isStackOverflow(error)) throw error
    throw damaged(what, error)
  }
}

/** Whether an error is a recursion that ran out of stack. */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && /call stack/i.test(error.message)
}
