import { damaged, passwordProtected } from '../document/extraction.js'

/** A node of the structure tree of a tagged PDF, which marks headings, tables, cells and so on. */
export type StructureNode =
  | {
      role: string
      children: readonly StructureNode[]
      /** Description of a picture. */
      alt?: string
      /** Left, bottom, right and top, in the coordinates of the page. */
      bbox?: readonly number[]
    }
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
  items: readonly (TextItem | { type: string; id?: string | null; tag?: string | null })[]
  styles: Readonly<Record<string, { fontFamily: string; vertical?: boolean }>>
}

/** The drawing operators of a page: their codes and arguments. */
export interface OperatorList {
  fnArray: readonly number[]
  argsArray: readonly unknown[]
}

/** A field of a form, a comment, a stamp and so on. The present members depend on its kind. */
export interface Annotation {
  id: string
  /** As in {@link annotationTypes}. */
  annotationType: number
  annotationFlags: number
  /** Of its page, from 0. */
  pageIndex: number
  /** Left, bottom, right and top, in the coordinates of the page. */
  rect?: readonly number[] | null
  hasAppearance?: boolean
  /** The text of a comment or of a free-text annotation. */
  contentsObj?: { str: string }
  /** The author of a comment. */
  titleObj?: { str: string }
  /** Lines as they are shown. */
  textContent?: readonly string[]
  fieldType?: string | null
  fieldName?: string
  fieldValue?: string | readonly string[] | null
  /** Label of a field for people who do not see it. */
  alternativeText?: string
  hidden?: boolean
  password?: boolean
  checkBox?: boolean
  radioButton?: boolean
  pushButton?: boolean
  exportValue?: string
  buttonValue?: string | null
  options?: readonly { exportValue: string | null; displayValue: string | null }[]
  file?: { filename?: string }
  inReplyTo?: string
}

/** Kinds of annotations that have text. */
export const annotationTypes = {
  comment: 1,
  freeText: 3,
  /** From lines to caret: shapes and marked text, each of which may have a comment. */
  firstShape: 4,
  lastShape: 12,
  stamp: 13,
  caret: 14,
  file: 17,
  field: 20,
} as const

/** An entry of the outline (bookmarks). */
export interface OutlineItem {
  title: string
  dest: unknown
  items: OutlineItem[]
}

/** The part of the interface of pdf.js that is used. */
export interface PdfPage {
  /** Number of its object; null in damaged files. */
  ref: { num: number; gen: number } | null
  getTextContent(options?: { includeMarkedContent: boolean }): Promise<TextContent>
  /** The structure tree of a tagged PDF. */
  getStructTree(): Promise<StructureNode | null>
  getOperatorList(): Promise<OperatorList>
  /** Fonts of pages whose operators were read, by the name within the document. */
  commonObjs: { has(font: string): boolean; get(font: string): { name?: string } | null }
  getViewport(options: { scale: number }): { transform: number[]; height: number; width: number }
  cleanup(): unknown
}

export interface PdfDocument {
  numPages: number
  getPage(number: number): Promise<PdfPage>
  getOutline(): Promise<OutlineItem[] | null>
  getDestination(name: string): Promise<unknown[] | null>
  getPageIndex(reference: { num: number; gen: number }): Promise<number>
  getMetadata(): Promise<{ info: object }>
  /** Annotations of these types on all pages but some; each is an {@link Annotation}. */
  getAnnotationsByType(types: Set<number>, without: Set<number>): Promise<object[] | null>
  /** Embedded files by name. */
  getAttachments(): Promise<Record<string, { filename?: string }> | null>
  getOptionalContentConfig(): Promise<OptionalContent>
}

/** Visibility of the layers when the document is opened. */
export interface OptionalContent extends Iterable<[string, { visible: boolean }]> {
  isVisible(group: unknown): boolean
}

/** The parser hands over fonts with a function that Node 20 does not have. */
function provideTransfer(): void {
  if ('transferToFixedLength' in ArrayBuffer.prototype) return
  Object.defineProperty(ArrayBuffer.prototype, 'transferToFixedLength', {
    configurable: true,
    writable: true,
    value(this: ArrayBuffer, length = this.byteLength): ArrayBuffer {
      const bytes = new Uint8Array(length)
      bytes.set(new Uint8Array(this, 0, Math.min(length, this.byteLength)))
      return bytes.buffer
    },
  })
}

/**
 * Opens a PDF without drawing, running scripts or loading anything from elsewhere.
 *
 * @throws ExtractionError if it is protected by a password or not a PDF
 */
export async function openPdf(bytes: Uint8Array): Promise<PdfDocument> {
  const { getDocument } = await import('unpdf/pdfjs')
  provideTransfer()
  const options = {
    // The parser takes over the buffer of its input, so it gets a copy.
    data: new Uint8Array(bytes),
    isEvalSupported: false,
    disableFontFace: true,
    useSystemFonts: false,
    enableXfa: false,
    // Pictures are not decoded: only their places count.
    maxImageSize: 0,
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
