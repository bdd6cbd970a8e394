/** What a passage mainly consists of. */
export type PassageKind =
  | 'title'
  | 'subtitle'
  | 'paragraph'
  | 'blockquote'
  | 'list'
  | 'table'
  | 'code'
  | 'image'

/** A part of a document that is found and shown as one. */
export interface Passage {
  /** Markdown, at most `maximumChunkLength` UTF-16 units long. */
  content: string
  type: 'chunk'
  /**
   * `title` and `subtitle` passages begin with that heading and go on with the text below it;
   * any other passage is named after its longest part.
   */
  subtype: PassageKind
  /** Page on which the passage begins, from 1, in formats that have pages. */
  pageNumber?: number
  /** Place among the passages of the document: 0, 1, 2 and so on. */
  position: number
  /** Headings above the passage, the document's title first. */
  headings: string[]
  /** Headings that the passage itself begins with, the highest first; mostly none or one. */
  ownHeadings: string[]
  /** Where the passage begins in the document's normalized text, in UTF-16 units. */
  start: number
  /** Where it ends there, exclusive. Headers repeated for a later part of a table are not counted. */
  end: number
}

/** How a document is cut. */
export interface ChunkOptions {
  /** UTF-16 units that no passage exceeds, from 64. */
  maximumLength: number
  /** UTF-16 units; a shorter paragraph is joined to what follows it. */
  minimumParagraphLength: number
  /** Whether the paragraphs of a long document that are mostly short go together, headings aside. */
  packsShort?: boolean
  /** More passages are an error. */
  maximumPassages: number
}

/** Below this, a passage could not even hold every single character a language can write. */
export const smallestMaximumLength = 64

/** Figures behind the first two values: `docs/decisions/0002-document-pipeline.md`. */
export const defaultChunkOptions: ChunkOptions = {
  maximumLength: 1200,
  minimumParagraphLength: 200,
  packsShort: true,
  maximumPassages: 5000,
}
