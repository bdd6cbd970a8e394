import type { Root } from 'mdast'

declare module 'mdast' {
  interface Data {
    /** Page on which the node begins, from 1, in formats that have pages. */
    pageNumber?: number
    /** In a text of several lines, such as code: the lines with which another page begins. */
    pageBreaks?: readonly PageBreak[]
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
  maximumLength?: number
  /** Pages, slides or chapters above which a document is refused. */
  maximumPages?: number
  /** Bytes that the parts of a packed document may have together when they are unpacked. */
  maximumUnpackedBytes?: number
  /** Called after each page, slide or chapter. */
  onPage?(done: number, total: number): void
}

/** The text of a document as a Markdown tree: what every format becomes and chunking works on. */
export interface Extraction {
  root: Root
  /** Title of the whole document, if it has one. */
  title?: string
  /** Number of pages, in formats that have pages. */
  pages?: number
}

/** What the module of a format exports. */
export interface Extractor {
  /**
   * @throws ExtractionError if the content is not valid in the format
   */
  extract(source: Source): Promise<Extraction>
}
