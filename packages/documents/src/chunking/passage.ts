/** The main content of a passage. */
export type PassageKind =
  | 'title'
  | 'subtitle'
  | 'paragraph'
  | 'blockquote'
  | 'list'
  | 'table'
  | 'code'
  | 'image'

/** A part of a document that is found and shown as a unit. */
export interface Passage {
  /** Markdown, at most `maximumChunkLength` UTF-16 units long. */
  content: string
  type: 'chunk'
  /**
   * `title` and `subtitle` passages consist of a heading and the text below it; any other passage
   * has the kind of its longest part.
   */
  subtype: PassageKind
  /** Page on which the passage begins, from 1, in formats that have pages. */
  pageNumber?: number
  /** Position among the passages of the document, from 0. */
  position: number
  /** Headings above the passage, the document's title first. */
  headings: string[]
  /** Headings that the passage itself begins with, the highest first; mostly none or one. */
  ownHeadings: string[]
  /** Offset in the normalized text of the document, in UTF-16 units. */
  start: number
  /** End offset, exclusive. Headers that are repeated for a later part of a table are not counted. */
  end: number
}

/** Options for cutting a document into passages. */
export interface ChunkOptions {
  /** UTF-16 units that no passage exceeds, from 64. */
  maxLength: number
  /** UTF-16 units; a shorter paragraph is joined to the block after it. */
  minParagraphLength: number
  /** Whether short passages of a long document that consists mostly of them are joined. */
  packsShort?: boolean
  /** A document with more passages is refused. */
  maxPassages: number
}

/** A shorter passage could not hold every single character (grapheme) of every language. */
export const minPassageLimit = 64

/** Figures behind the first two values: `docs/decisions/0002-document-pipeline.md`. */
export const defaultChunkOptions: ChunkOptions = {
  maxLength: 1200,
  minParagraphLength: 200,
  packsShort: true,
  maxPassages: 5000,
}
