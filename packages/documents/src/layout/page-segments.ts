import { cutAtAlignedGaps } from './aligned-gaps.js'
import type { PdfPage } from './parser.js'
import { type Segment, toSegments } from './segments.js'
import { withTables } from './tagged-tables.js'
import { countNodes, readTags, type TaggedTables } from './tags.js'

/**
 * Parts of the structure that are read of one document. The structure of a page names all rows of a table,
 * those of other pages included, so that reading it takes the square of the length of the table.
 */
const MOST_NODES = 2_000_000

/** Reads the text of one page after the other, with the tables that the document names as such. */
export function createPageReader(): (page: PdfPage) => Promise<Segment[]> {
  let nodes = 0

  async function tagsOf(page: PdfPage): Promise<TaggedTables | undefined> {
    if (nodes > MOST_NODES) return undefined
    // A damaged structure is none: the text can be read without it.
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
