import type { Root } from 'mdast'

declare module 'mdast' {
  interface Data {
    /** Page on which the node begins, from 1, in formats that have pages. */
    pageNumber?: number
    /** In a text of several lines, such as code: those (from 0) with which another page begins. */
    pageBreaks?: readonly PageBreak[]
  }
}

/** A line of a text, from 0, with which another page begins. */
interface PageBreak {
  line: number
  page: number
}

/** The content of a file and what is said about it. */
export interface Source {
  bytes: Uint8Array
  /** Media type as stored with the file, parameters such as `charset` included. */
  contentType: string
  /** Key of the file; its extension tells the format where the media type does not. */
  key: string
  /** UTF-16 units of text that can be indexed; a reader may refuse what must be longer. */
  maximumLength?: number
  /** Pages, slides or chapters above which a document is refused. */
  maximumPages?: number
  /** Bytes that the parts of a packed document may have together when they are unpacked. */
  maximumUnpackedBytes?: number
  /** Told after each page, slide or chapter. */
  onPage?(done: number, total: number): void
}

/** A document in the one form that chunking works on. */
export interface Extraction {
  root: Root
  /** Title of the whole document, if it states one. */
  title?: string
  /** Number of pages, in formats that have pages. */
  pages?: number
}

/** Reads one family of formats. */
export interface Extractor {
  /**
   * @throws ExtractionError if the content is not what the format asks for
   */
  extract(source: Source): Promise<Extraction>
}
