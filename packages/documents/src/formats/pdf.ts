import type { Root } from 'mdast'
import { damaged, type Extraction, ExtractionError, type Source } from '../document/extraction.js'
import { createTextLimit, requirePages } from '../document/limits.js'
import { markTitle, toTitle } from '../document/nodes.js'
import { createOmissions, type Omissions, type Reading } from '../document/omissions.js'
import { readAnnotations } from '../layout/annotations.js'
import { toBlocks } from '../layout/blocks.js'
import { hasHiddenLayer } from '../layout/drawing.js'
import { attachNotes } from '../layout/filled-in.js'
import { type Page, withoutHeadersAndFooters } from '../layout/headers-footers.js'
import { readOutline } from '../layout/headings.js'
import type { Line } from '../layout/lines.js'
import { toTypedBlocks } from '../layout/listing.js'
import { listMarker } from '../layout/paragraphs.js'
import { openPdf, type PdfDocument } from '../layout/parser.js'
import { readRawObjects } from '../layout/raw-objects.js'
import { createPageReader, type ReadPage } from '../layout/read-page.js'
import { withoutWatermarks } from '../layout/sideways.js'

/** Share of characters without meaning above which a text is not readable. */
const unreadableShare = 0.3
const meaninglessCharacters = /[\p{Co}\p{Cn}\ufffd]/gu
/** Control characters; a font without a map of its characters turns spaces into them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
const controlCharacters = /[\u0000-\u0008\u000e-\u001f]/g
/** Letters of a text per space. */
const lettersPerSpace = 6
/** Names of files, which programs often write as the title. */
const fileNamePattern = /\.(?:docx?|pptx?|xlsx?|indd|tex|dvi|pdf|qxd|pmd)$|^\S*$/i

/** Reads the text of a PDF with its page numbers; see `docs/decisions/0013-formats-and-libraries.md` for how. */
export async function extract(source: Source): Promise<Extraction> {
  try {
    return await read(source)
  } finally {
    // A refused attachment must not bound the rest of its mail.
    source.onStep?.('any')
  }
}

async function read(source: Source): Promise<Extraction> {
  source.onStep?.('short')
  const document = await openPdf(source.bytes)
  await requirePageTree(document, source)
  requirePages(document.numPages, source, 'pages')
  const omissions = createOmissions()
  const all = await readPages(document, source, omissions)
  source.onStep?.('any')
  const info = await readInfo(document)
  requireStatic(all, info)
  requireReadable(all)
  await reportEmbeddedFiles(document, omissions)
  const pages = withoutUnreadable(all, omissions)
  reportUnknownSymbols(pages, omissions)
  const upright = withoutWatermarks(pages, omissions)
  const unread = pages.filter(({ isUnread }) => isUnread).length
  const parts = { count: document.numPages, unread }
  requireText(upright, { omissions: omissions.list(), parts })
  const lines = withoutHeadersAndFooters(upright).map((own, at) =>
    withNotes(own, upright[at], at + 1),
  )
  const blocks = toTypedBlocks(lines) ?? toBlocks(lines, await readOutline(document))
  const root: Root = { type: 'root', children: blocks }
  const title = markTitle(root, statedTitle(info))
  return {
    root,
    pages: document.numPages,
    ...(title !== undefined && { title }),
    omissions: omissions.list(),
    parts,
  }
}

/** Refuses a document whose number of pages is not true, which a damaged tree of pages may state as it likes. */
async function requirePageTree(document: PdfDocument, source: Source): Promise<void> {
  const count = document.numPages
  if (!(count > 0)) throw damaged('a PDF', new Error('it has no pages'))
  if (count <= (source.maxPages ?? Number.POSITIVE_INFINITY)) return
  await document.getPage(count).catch((error) => {
    throw damagedPage(count, error)
  })
}

const circularTree = /circular reference/i

function damagedPage(number: number, error: unknown): ExtractionError {
  const said = error instanceof Error ? error.message : String(error)
  const reason = circularTree.test(said)
    ? 'its tree of pages contains itself, or a page twice'
    : `page ${number}: ${said}`
  return damaged('a PDF', new Error(reason))
}

async function readPages(
  document: PdfDocument,
  source: Source,
  omissions: Omissions,
): Promise<ReadPage[]> {
  const count = createTextLimit(source)
  const objects = readRawObjects(source.bytes)
  // Those of all pages at once: no short step.
  source.onStep?.('any')
  const annotations = await readAnnotations(document, objects, omissions)
  const layers = await document.getOptionalContentConfig().catch(() => undefined)
  const hidden = layers !== undefined && hasHiddenLayer(layers) ? layers : undefined
  const readPage = createPageReader({
    annotations,
    layers: hidden,
    omissions,
    objects,
  })
  const pages: ReadPage[] = []
  for (let number = 1; number <= document.numPages; number += 1) {
    source.onStep?.('short')
    try {
      const page = await document.getPage(number)
      const read = await readPage(page, number)
      for (const { text } of [...read.lines, ...read.notes]) count(text)
      pages.push(read)
      page.cleanup()
    } catch (error) {
      if (error instanceof ExtractionError) throw error
      throw damagedPage(number, error)
    }
    source.onPage?.(number, document.numPages)
  }
  return pages
}

/** Adds the notes beside lines; a text along the edge of the page is one. */
function withNotes(lines: readonly Line[], page: Page | undefined, number: number): Line[] {
  const edges = lines.filter(({ turned }) => turned === 'edge')
  const rest = lines.filter((line) => !edges.includes(line))
  const notes = edges.map(({ text }) => ({ text, x: 0, y: Number.MAX_SAFE_INTEGER }))
  return attachNotes(rest, [...(page?.notes ?? []), ...notes], number)
}

/** Characters of a form that has no content but a request to open it elsewhere. */
const maxLengthOfRequest = 2500
const requestToWait = /please wait|adobe\.com\/go\/|adobe (?:acrobat )?reader/i

/** Refuses a form whose content only the programs of one vendor can build. */
function requireStatic(pages: readonly ReadPage[], info: PdfInfo): void {
  if (info.IsXFAPresent !== true) return
  const text = textOf(pages)
  if (text.length > maxLengthOfRequest) return
  if (!requestToWait.test(text) && info.IsAcroFormPresent === true) return
  if (!requestToWait.test(text) && text.trim() !== '') return
  throw new ExtractionError(
    'no_text',
    'The PDF is a dynamic form (XFA): only Adobe Acrobat can build its content. ' +
      'Open it there, print it to a PDF file and upload the result.',
  )
}

function textOf(pages: readonly Pick<ReadPage, 'lines' | 'notes'>[]): string {
  return pages.flatMap(({ lines, notes }) => [...lines, ...notes].map(({ text }) => text)).join(' ')
}

function requireText(pages: readonly Pick<ReadPage, 'lines' | 'notes'>[], reading: Reading): void {
  if (textOf(pages).trim() !== '') return
  if (reading.omissions.length === 0) {
    throw new ExtractionError(
      'no_text',
      'The PDF has no text: its pages are empty, or their text is drawn as shapes. ' +
        'Export the document again with text, or run text recognition (OCR) on it, for example with OCRmyPDF, and upload the result.',
    )
  }
  throw new ExtractionError(
    'no_text',
    'The PDF has no text: its pages are pictures, for example from a scanner. ' +
      'Run text recognition (OCR) on it, for example with OCRmyPDF, and upload the result.',
    { reading },
  )
}

function requireReadable(pages: readonly ReadPage[]): void {
  const texts = pages.map((page) => textOf([page])).filter((text) => text.trim() !== '')
  if (texts.length === 0 || !texts.every(isUnreadable)) return
  throw new ExtractionError(
    'no_text',
    'The text of the PDF cannot be read: its fonts do not map their glyphs to characters. ' +
      'Export the document again, or run text recognition (OCR) on it, and upload the result.',
  )
}

function isUnreadable(text: string): boolean {
  const meaningless = text.match(meaninglessCharacters)?.length ?? 0
  const controls = (text.match(controlCharacters)?.length ?? 0) * lettersPerSpace
  return meaningless + controls > text.length * unreadableShare
}

/** Removes and reports the lines of pages whose fonts do not map their glyphs to characters. */
function withoutUnreadable(pages: readonly ReadPage[], omissions: Omissions): ReadPage[] {
  return pages.map((page, at) => {
    if (page.lines.length === 0 || !isUnreadable(textOf([page]))) return page
    omissions.add('unreadable_font', { page: at + 1 })
    const lines = page.lines.filter(({ text }) => !isUnreadable(text))
    return { ...page, lines, isUnread: page.isUnread || lines.length === 0 }
  })
}

/** Characters that only their symbol font shows; at the beginning of an item they are its mark. */
const privateSymbol = /[\uf020-\uf0ff]/g

function reportUnknownSymbols(pages: readonly ReadPage[], omissions: Omissions): void {
  pages.forEach(({ lines }, at) => {
    for (const { text } of lines) {
      for (const [symbol] of text.replace(listMarker, '').matchAll(privateSymbol)) {
        const detail = symbol.charCodeAt(0).toString(16).toUpperCase()
        omissions.add('unknown_symbol', { page: at + 1 }, { detail })
      }
    }
  })
}

/** Tells files that are embedded in the document. */
async function reportEmbeddedFiles(document: PdfDocument, omissions: Omissions): Promise<void> {
  const files = await document.getAttachments().catch(() => null)
  for (const [name, file] of Object.entries(files ?? {})) {
    omissions.add('embedded_file', { part: file.filename ?? name })
  }
}

/** Metadata of a document. */
interface PdfInfo {
  Title?: unknown
  IsXFAPresent?: unknown
  IsAcroFormPresent?: unknown
}

async function readInfo(document: PdfDocument): Promise<PdfInfo> {
  const { info } = await document.getMetadata().catch(() => ({ info: {} }))
  return info
}

function statedTitle({ Title }: PdfInfo): string | undefined {
  const title = typeof Title === 'string' ? toTitle(Title) : undefined
  return title === undefined || fileNamePattern.test(title) ? undefined : title
}
