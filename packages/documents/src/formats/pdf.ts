import type { Root } from 'mdast'
import { toBlocks } from '../layout/blocks.js'
import { type Page, withoutFurniture } from '../layout/furniture.js'
import { toLines } from '../layout/lines.js'
import { toTypedBlocks } from '../layout/listing.js'
import { readOutline } from '../layout/outline.js'
import { createPageReader } from '../layout/page-segments.js'
import { openPdf, type PdfDocument } from '../layout/parser.js'
import { damaged } from './damaged.js'
import { ExtractionError } from './extraction-error.js'
import type { Extraction, Source } from './extractor.js'
import { toTitle } from './office-title.js'
import { createTextLimit, requirePages } from './page-limit.js'
import { firstHeading } from './tree.js'

/** Share of characters without a meaning above which a text is not readable. */
const UNREADABLE_SHARE = 0.3
const MEANINGLESS = /[\p{Co}\p{Cn}\ufffd]/gu
/** What programs that made the file write where the title should be. */
const FILE_NAME = /\.(?:docx?|pptx?|xlsx?|indd|tex|dvi|pdf|qxd|pmd)$|^\S*$/i

/** Reads the text of a PDF with its page numbers; see `docs/decisions/0013-formats-and-libraries.md` for how. */
export async function extract(source: Source): Promise<Extraction> {
  const document = await openPdf(source.bytes)
  requirePages(document.numPages, source, 'pages')
  const pages = await readPages(document, source)
  requireText(pages)
  const lines = withoutFurniture(pages)
  const blocks = toTypedBlocks(lines) ?? toBlocks(lines, await readOutline(document))
  const root: Root = { type: 'root', children: blocks }
  const title = (await statedTitle(document)) ?? firstHeading(root)
  return { root, pages: document.numPages, ...(title !== undefined && { title }) }
}

async function readPages(document: PdfDocument, source: Source): Promise<Page[]> {
  const count = createTextLimit(source)
  const readPage = createPageReader()
  const pages: Page[] = []
  for (let number = 1; number <= document.numPages; number += 1) {
    try {
      const page = await document.getPage(number)
      const { height } = page.getViewport({ scale: 1 })
      const lines = toLines(await readPage(page), number)
      for (const line of lines) count(line.text)
      pages.push({ lines, height })
      page.cleanup()
    } catch (error) {
      if (error instanceof ExtractionError) throw error
      throw damaged('a PDF', new Error(`page ${number}: ${String(error)}`))
    }
    source.onPage?.(number, document.numPages)
  }
  return pages
}

function requireText(pages: readonly Page[]): void {
  const text = pages.flatMap((page) => page.lines.map((line) => line.text)).join('')
  if (text.trim() === '') {
    throw new ExtractionError(
      'no_text',
      'The PDF has no text: its pages are pictures, as from a scanner. ' +
        'Run text recognition (OCR) on it, for example with OCRmyPDF, and upload the result.',
    )
  }
  if ((text.match(MEANINGLESS)?.length ?? 0) > text.length * UNREADABLE_SHARE) {
    throw new ExtractionError(
      'no_text',
      'The text of the PDF cannot be read: its fonts do not say which letters they show. ' +
        'Export the document again, or run text recognition (OCR) on it, and upload the result.',
    )
  }
}

async function statedTitle(document: PdfDocument): Promise<string | undefined> {
  const { info } = await document.getMetadata().catch(() => ({ info: {} }))
  const title = 'Title' in info && typeof info.Title === 'string' ? toTitle(info.Title) : undefined
  return title === undefined || FILE_NAME.test(title) ? undefined : title
}
