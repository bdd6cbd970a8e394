import { damaged, passwordProtected } from '../document/extraction.js'

/** A node of the structure tree of a tagged PDF, which marks headings, tables, cells and so on. */
export type StructureNode =
  | { role: string; children: readonly StructureNode[] }
  | { type: string; id: string }

const formatName = 'a PDF'

/** A piece of text as the parser returns it. */
export interface TextItem {
  str: string
  dir: string
  width: number
  height: number
  /** Matrix of six numbers in the coordinates of the page. */
  transform: readonly number[]
  fontName: string
}

/** All text of a page. Items that are not text mark where tagged content begins and ends. */
export interface TextContent {
  items: readonly (TextItem | { type: string; id?: string })[]
  styles: Readonly<Record<string, { fontFamily: string }>>
}

/** An entry of the outline (bookmarks). */
export interface OutlineItem {
  title: string
  dest: unknown
  items: OutlineItem[]
}

/** The part of the interface of pdf.js that is used. */
export interface PdfPage {
  getTextContent(options?: { includeMarkedContent: boolean }): Promise<TextContent>
  /** The structure tree of a tagged PDF. */
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
 * Opens a PDF without drawing, running scripts or loading anything from elsewhere.
 *
 * @throws ExtractionError if it is protected by a password or not a PDF
 */
export async function openPdf(bytes: Uint8Array): Promise<PdfDocument> {
  const { getDocument } = await import('unpdf/pdfjs')
  const options = {
    // The parser takes over the buffer of its input, so it gets a copy.
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
    if (error instanceof Error && error.name === 'PasswordException')
      throw passwordProtected(formatName)
    throw damaged(formatName, error)
  }
}
