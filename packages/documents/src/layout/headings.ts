import type { Line } from './lines.js'
import type { OutlineItem, PdfDocument } from './parser.js'

/** Factor by which the type of headings is larger than that of the text. */
const headingSizeRatio = 1.12
/** Characters of a heading in larger type. */
const maxLength = 200
/** A line in another font than the text, such as bold, is a heading only if it is short ... */
const maxLengthInOtherFont = 90
/** ... and if that font is used for little else. */
const maxFontShare = 0.15
/** Space above such a line, in multiples of its font size. */
const minSpaceAbove = 1.5

/** The typography of the text of a document, by which headings differ. */
export interface Typography {
  /** Size of the text, in points. */
  size: number
  /** Font of the text. */
  font: string
  /** Level of a line as a heading, from 1; undefined if it is none. */
  levelOf(line: Line, previous: Line | undefined): number | undefined
}

/** Determines the fonts and sizes of the text and the headings of a document. */
export function readTypography(pages: readonly (readonly Line[])[], outline: Outline): Typography {
  const sizes = new Map<number, number>()
  const fonts = new Map<string, number>()
  let total = 0
  for (const line of pages.flat()) {
    const length = line.text.length
    total += length
    add(sizes, roundSize(line.size), length)
    add(fonts, line.font, length)
  }
  const size = mostFrequent(sizes) ?? 0
  const font = mostFrequent(fonts) ?? ''
  const isLarge = (line: Line) =>
    roundSize(line.size) >= size * headingSizeRatio && line.text.length <= maxLength
  const levels = levelsBySize(pages, outline, isLarge)

  return {
    size,
    font,
    levelOf(line, previous) {
      if (!/\p{L}/u.test(line.text)) return undefined
      const named = outlineLevel(outline, line.text, line.page)
      if (named !== undefined) return named + levels.base
      if (isLarge(line)) return levels.bySize.get(roundSize(line.size)) ?? levels.deepest
      const share = (fonts.get(line.font) ?? 0) / Math.max(1, total)
      const isOther = line.font !== font && share < maxFontShare && !line.monospace
      return isOther && isSetOff(line, previous, size) ? levels.deepest : undefined
    },
  }
}

/** Whether a line is short, of one segment and one font, with space above, and not a sentence. */
function isSetOff(line: Line, previous: Line | undefined, size: number): boolean {
  const { text, segments } = line
  if (text.length > maxLengthInOtherFont || segments.length > 1) return false
  if (roundSize(line.size) < size * 0.95 || /[.,;:!]$/.test(text)) return false
  if (!line.uniform || !/^[\p{Lu}\p{Lo}\p{N}]/u.test(text)) return false
  const space = previous === undefined ? Number.POSITIVE_INFINITY : line.y - previous.y
  return line.opensColumn || space < 0 || space >= line.size * minSpaceAbove
}

interface Levels {
  /** Level of the highest entry of the outline. */
  base: number
  bySize: ReadonlyMap<number, number>
  deepest: number
}

/** Larger type is a higher level. If the outline has lines of a size, it decides. */
function levelsBySize(
  pages: readonly (readonly Line[])[],
  outline: Outline,
  isLarge: (line: Line) => boolean,
): Levels {
  const named = new Map<number, number>()
  const used = new Set<number>()
  for (const line of pages.flat()) {
    const level = outlineLevel(outline, line.text, line.page)
    const size = roundSize(line.size)
    if (level !== undefined) named.set(size, Math.min(level, named.get(size) ?? level))
    if (isLarge(line)) used.add(size)
  }
  const largest = Math.max(0, ...used)
  // A line larger than everything in the outline is the title above it.
  const base = named.size > 0 && !named.has(largest) && used.size > 0 ? 2 : 1
  const bySize = new Map<number, number>()
  let level = 0
  for (const size of [...used].sort((a, b) => b - a)) {
    const stated = named.get(size)
    level = stated === undefined ? level + 1 : stated + base
    bySize.set(size, Math.min(level, 6))
  }
  const deepest = Math.min(
    6,
    Math.max(1, level, ...[...named.values()].map((each) => each + base)) + 1,
  )
  return { base, bySize, deepest: bySize.size === 0 && named.size === 0 ? 2 : deepest }
}

function roundSize(size: number): number {
  return Math.round(size * 2) / 2
}

function add<Key>(counts: Map<Key, number>, key: Key, amount: number): void {
  counts.set(key, (counts.get(key) ?? 0) + amount)
}

function mostFrequent<Key>(counts: ReadonlyMap<Key, number>): Key | undefined {
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0]
}

/** Entries of the outline that are read. */
const maxEntries = 2000
const maxDepth = 6

/** Headings in the outline (bookmarks) of a PDF. */
export interface Outline {
  /** Levels from 0, by page (from 1, or 0 if unknown) and simplified title. */
  levels: ReadonlyMap<string, number>
  size: number
}

/** Reads the outline; a broken one is ignored. */
export async function readOutline(document: PdfDocument): Promise<Outline> {
  const levels = new Map<string, number>()
  let entries = 0
  const add = async (items: readonly OutlineItem[], level: number): Promise<void> => {
    for (const item of items) {
      entries += 1
      if (entries > maxEntries) return
      const title = simplify(item.title)
      const page = await pageOf(document, item.dest)
      if (title !== '') levels.set(keyOf(page, title), level)
      if (level < maxDepth) await add(item.items, level + 1)
    }
  }
  const items = await document.getOutline().catch(() => null)
  await add(items ?? [], 0)
  return { levels, size: levels.size }
}

/** The level of a line as a heading, if the outline has it on this page. */
function outlineLevel(outline: Outline, text: string, page: number): number | undefined {
  if (outline.size === 0) return undefined
  const title = simplify(text)
  if (title === '') return undefined
  return outline.levels.get(keyOf(page, title)) ?? outline.levels.get(keyOf(0, title))
}

function keyOf(page: number, title: string): string {
  return `${page} ${title}`
}

/** Letters and digits without the section number, which is often only in the outline or only in the text. */
function simplify(text: string): string {
  return text
    .toLowerCase()
    .replace(/^\s*(?:[\divx]+\.)*[\divx]*[.)]?\s+(?=\S)/, '')
    .replace(/[^\p{L}\p{N}]+/gu, '')
}

/** The page of a destination, from 1; 0 if it has none. */
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
