import type { Root } from 'mdast'
import { damaged, type Extraction, ExtractionError, type Source } from '../document/extraction.js'
import { createTextLimit, requirePages } from '../document/limits.js'
import { firstHeading, toTitle } from '../document/nodes.js'
import { cutAtAlignedGaps } from '../layout/aligned-gaps.js'
import { toBlocks } from '../layout/blocks.js'
import { type Page, withoutHeadersAndFooters } from '../layout/headers-footers.js'
import { readOutline } from '../layout/headings.js'
import { toLines } from '../layout/lines.js'
import { toTypedBlocks } from '../layout/listing.js'
import { openPdf, type PdfDocument, type PdfPage } from '../layout/parser.js'
import { type Segment, toSegments } from '../layout/segments.js'
import { countNodes, readTags, type TableTags, withTables } from '../layout/tagged-tables.js'

/** Share of characters without meaning above which a text is not readable. */
const unreadableShare = 0.3
const meaninglessCharacters = /[\p{Co}\p{Cn}\ufffd]/gu
/** Names of files, which programs often write as the title. */
const fileNamePattern = /\.(?:docx?|pptx?|xlsx?|indd|tex|dvi|pdf|qxd|pmd)$|^\S*$/i

/** Reads the text of a PDF with its page numbers; see `docs/decisions/0013-formats-and-libraries.md` for how. */
export async function extract(source: Source): Promise<Extraction> {
  const document = await openPdf(source.bytes)
  requirePages(document.numPages, source, 'pages')
  const pages = await readPages(document, source)
  requireText(pages)
  const lines = withoutHeadersAndFooters(pages)
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
  if ((text.match(meaninglessCharacters)?.length ?? 0) > text.length * unreadableShare) {
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
  return title === undefined || fileNamePattern.test(title) ? undefined : title
}

/**
 * Nodes of structure trees that are read per document. The structure of a page names all rows of a table,
 * including those on other pages, so that reading all pages takes time quadratic in the length of the table.
 */
const maxStructureNodes = 2_000_000

/** Reads the text of pages in order, with the tables that the document tags as such. */
function createPageReader(): (page: PdfPage) => Promise<Segment[]> {
  let nodes = 0

  async function tagsOf(page: PdfPage): Promise<TableTags | undefined> {
    if (nodes > maxStructureNodes) return undefined
    // A damaged structure is ignored: the text can be read without it.
    const root = await page.getStructTree().catch(() => null)
    if (root === null) return undefined
    nodes += countNodes(root)
    const tags = readTags(root)
    return tags.cells.size > 0 ? tags : undefined
  }

  return async (page) => {
    const { transform } = page.getViewport({ scale: 1 })
    const tags = await tagsOf(page)
    if (tags === undefined)
      return cutAtAlignedGaps(toSegments(await page.getTextContent(), transform))
    const content = await page.getTextContent({ includeMarkedContent: true })
    return withTables(toSegments(content, transform, tags.cells), tags)
  }
}
