import type { OutlineItem, PdfDocument } from './parser.js'

/** Entries beyond are not looked up. */
const MOST_ENTRIES = 2000
const DEEPEST = 6

/** Headings that the author has named in the outline of a PDF. */
export interface Outline {
  /** Levels from 0, by page (from 1, or 0 where it is not known) and simplified title. */
  levels: ReadonlyMap<string, number>
  size: number
}

/** Reads the outline; a broken one is none. */
export async function readOutline(document: PdfDocument): Promise<Outline> {
  const levels = new Map<string, number>()
  let entries = 0
  const add = async (items: readonly OutlineItem[], level: number): Promise<void> => {
    for (const item of items) {
      entries += 1
      if (entries > MOST_ENTRIES) return
      const title = simplify(item.title)
      const page = await pageOf(document, item.dest)
      if (title !== '') levels.set(keyOf(page, title), level)
      if (level < DEEPEST) await add(item.items, level + 1)
    }
  }
  const items = await document.getOutline().catch(() => null)
  await add(items ?? [], 0)
  return { levels, size: levels.size }
}

/** The level of a line as a heading, if the outline names it on this page. */
export function outlineLevel(outline: Outline, text: string, page: number): number | undefined {
  if (outline.size === 0) return undefined
  const title = simplify(text)
  if (title === '') return undefined
  return outline.levels.get(keyOf(page, title)) ?? outline.levels.get(keyOf(0, title))
}

function keyOf(page: number, title: string): string {
  return `${page} ${title}`
}

/** Letters and digits, without the number of the section, which one of the two often lacks. */
function simplify(text: string): string {
  return text
    .toLowerCase()
    .replace(/^\s*(?:[\divx]+\.)*[\divx]*[.)]?\s+(?=\S)/, '')
    .replace(/[^\p{L}\p{N}]+/gu, '')
}

/** From 1; 0 if the destination does not say. */
async function pageOf(document: PdfDocument, destination: unknown): Promise<number> {
  try {
    const target =
      typeof destination === 'string' ? await document.getDestination(destination) : destination
    const [page]: unknown[] = Array.isArray(target) ? target : []
    if (typeof page === 'number') return page + 1
    return isReference(page) ? (await document.getPageIndex(page)) + 1 : 0
  } catch {
    return 0
  }
}

function isReference(value: unknown): value is { num: number; gen: number } {
  return typeof value === 'object' && value !== null && 'num' in value && 'gen' in value
}
