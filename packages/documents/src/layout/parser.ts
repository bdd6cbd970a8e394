import { damaged, passwordProtected } from '../document/extraction-error.js'
import type { StructureNode } from './tagged-tables.js'

const WHAT = 'a PDF'

/** A piece of text as the parser finds it. */
export interface TextItem {
  str: string
  dir: string
  width: number
  height: number
  /** Matrix of six numbers in the coordinates of the page. */
  transform: readonly number[]
  fontName: string
}

/** All text of a page; what is no text marks where structures begin and end. */
export interface TextContent {
  items: readonly (TextItem | { type: string; id?: string })[]
  styles: Readonly<Record<string, { fontFamily: string }>>
}

/** An entry of the outline, which viewers show beside the pages. */
export interface OutlineItem {
  title: string
  dest: unknown
  items: OutlineItem[]
}

/** What of the parser is used. */
export interface PdfPage {
  getTextContent(options?: { includeMarkedContent: boolean }): Promise<TextContent>
  /** What the document says of its structure, if it does. */
  getStructTree(): Promise<StructureNode | null>
  getViewport(options: { scale: number }): { transform: number[]; height: number }
  cleanup(): unknown
}

export interface PdfDocument {
  numPages: number
  getPage(number: number): Promise<PdfPage>
  getOutline(): Promise<OutlineItem[] | null>
  getDestination(name: string): Promise<unknown[] | null>
  getPageIndex(reference: { num: number; gen: number }): Promise<number>
  getMetadata(): Promise<{ info: object }>
}

/**
 * Opens a PDF without anything that draws, runs scripts or loads from elsewhere.
 *
 * @throws ExtractionError if it is protected by a password or no PDF
 */
export async function openPdf(bytes: Uint8Array): Promise<PdfDocument> {
  const { getDocument } = await import('unpdf/pdfjs')
  const options = {
    // The parser takes its input over; a view of a larger buffer would go with all of it.
    data: new Uint8Array(bytes),
    isEvalSupported: false,
    disableFontFace: true,
    useSystemFonts: false,
    enableXfa: false,
    verbosity: 0,
  }
  try {
    return await getDocument(options).promise
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') throw passwordProtected(WHAT)
    throw damaged(WHAT, error)
  }
}
