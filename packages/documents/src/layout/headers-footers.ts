import type { Line } from './lines.js'
import { largest, median } from './measures.js'

/** Lines at the top and at the bottom of a page that may be headers and footers. */
const maxEdgeLines = 4
/** Share of the height of the page in which they are, at either end. */
const edgeZone = 0.16
/** Pages on which a line must be at the same position. */
const minPages = 3
/** Points by which that position may differ. */
const tolerance = 4
/** Distance of baselines of one line, in multiples of the font size: lines below each other are farther apart. */
const besideText = 0.8
/** Factor by which the type of a heading is larger than that of most lines. */
const headingSizeRatio = 1.12
const pageNumberPattern =
  /^[-–—]?\s*(?:(?:page|seite|página|pagina|p\.)\s*)?\d{1,4}(?:\s*(?:of|von|de|di|\/)\s*\d{1,4})?\s*[-–—]?$/i
/** Numbers of a running line: a date, a time, a page and a count of pages. */
const maxNumbers = 7
const romanNumber = /\b[ivxlcdm]+\b/g
/** The page number at the end of a running header, or at its beginning on the left pages of a book. */
const lastNumber = /\D\s(\d{1,4})$/
const firstNumber = /^(\d{1,4})\s+\p{L}/u

/** A page of lines in reading order. */
export interface Page {
  lines: Line[]
  /** Height in points. */
  height: number
  /** Notes that stand beside the text. */
  notes: Note[]
}

/** A text that is not part of the flow of the page: a comment, a stamp, the description of a picture. */
export interface Note {
  text: string
  /** Its position, in the coordinates of the lines. */
  x: number
  y: number
}

/**
 * Removes running headers, footers and page numbers from all pages: lines near the edge that are at the same
 * position on several pages and differ in numbers only, or that count the pages, with any other text. The
 * name of a chapter changes with the chapter, which may have two pages.
 */
export function withoutHeadersAndFooters(pages: readonly Page[]): Line[][] {
  const pagesOfKey = new Map<string, Set<number>>()
  const size = median(pages.flatMap((page) => page.lines.map((line) => line.size)))
  const isLarge = (line: Line) => line.size > size * headingSizeRatio
  const keysOf = (line: Line) => keys(line, isLarge(line))
  const candidates = pages.map((page) => edgeLines(page))
  const counting = countingLines(candidates, isLarge)
  candidates.forEach((lines, index) => {
    for (const line of lines) {
      for (const key of keysOf(line)) {
        const pageSet = pagesOfKey.get(key)
        if (pageSet === undefined) pagesOfKey.set(key, new Set([index]))
        else pageSet.add(index)
      }
    }
  })
  const inside = countInside(pages, candidates)
  // A leaflet of two pages repeats itself on both.
  const least = Math.min(minPages, Math.max(2, pages.length))
  const running = new Set<string>()
  const kept = pages.map(({ lines }, index) => {
    const edges = new Set(candidates[index])
    return lines.filter((line) => {
      if (!edges.has(line)) return true
      if (pageNumberPattern.test(line.text) && !isBesideText(line, lines)) return false
      const most = largest(keysOf(line).map((key) => pagesOfKey.get(key)?.size ?? 0))
      // Lines of a log or a listing are alike all over the page, so some are at the edges.
      const isText = (inside.get(patternOf(line)) ?? 0) >= most
      if (isText || !(most >= least || counting.has(line))) return true
      running.add(patternOf(line))
      return false
    })
  })
  return kept.map((lines) => lines.filter((line) => !isRunningSideways(line, running)))
}

/** Whether a line is so near to another one that it is part of its text, such as an exponent. */
function isBesideText(line: Line, lines: readonly Line[]): boolean {
  return lines.some((other) => {
    const distance = Math.abs(other.y - line.y)
    return other !== line && distance > 0 && distance < Math.max(other.size, line.size) * besideText
  })
}

/** Whether a line is a running one of a page whose other text is sideways, such as a wide table. */
function isRunningSideways(line: Line, running: ReadonlySet<string>): boolean {
  if (line.turned === undefined) return false
  return pageNumberPattern.test(line.text) || running.has(patternOf(line))
}

function edgeLines({ lines, height }: Page): Line[] {
  const sorted = lines.filter(({ turned }) => turned === undefined).sort((a, b) => a.y - b.y)
  if (sorted.length === 0) return []
  const top = Math.min(0, sorted[0]?.y ?? 0)
  const isTop = (line: Line) => line.y - top < height * edgeZone
  const isBottom = (line: Line) => line.y - top > height * (1 - edgeZone)
  const heads = sorted.slice(0, maxEdgeLines).filter(isTop)
  const feet = sorted.slice(-maxEdgeLines).filter(isBottom)
  return [...heads, ...feet].filter((line) => !isTableRow(line, sorted))
}

/**
 * Lines whose number increases with the pages. A number at the beginning counts only if other lines have the
 * same count at the end: `2 Methods` on the second page is more likely a heading.
 */
function countingLines(
  candidates: readonly (readonly Line[])[],
  isLarge: (line: Line) => boolean,
): Set<Line> {
  const last = new Map<string, Set<Line>>()
  const first = new Map<string, Set<Line>>()
  candidates.forEach((lines, index) => {
    for (const line of lines) {
      if (isLarge(line)) continue
      const number = lastNumber.exec(line.text)?.[1]
      const isFirst = number === undefined
      const count = number ?? firstNumber.exec(line.text)?.[1]
      if (count === undefined) continue
      for (const cell of gridCells(line)) {
        const key = `${Number(count) - index}|${cell}`
        const group = isFirst ? first : last
        group.set(key, (group.get(key) ?? new Set()).add(line))
      }
    }
  })
  const counting = new Set<Line>()
  for (const [key, lines] of last) {
    if (lines.size < minPages) continue
    for (const line of [...lines, ...(first.get(key) ?? [])]) counting.add(line)
  }
  return counting
}

/** Whether a line is a row of a table: the header of a table over several pages repeats too. */
function isTableRow(line: Line, sorted: readonly Line[]): boolean {
  if (line.table !== undefined) return true
  if (line.segments.length < 2) return false
  const at = sorted.indexOf(line)
  return [sorted[at - 1], sorted[at + 1]].some(
    (other) =>
      other !== undefined &&
      other.segments.length === line.segments.length &&
      Math.abs(other.y - line.y) < line.size * 3 &&
      other.segments.every((segment, index) => {
        const own = line.segments[index]
        return own !== undefined && segment.x0 < own.x1 && segment.x1 > own.x0
      }),
  )
}

/**
 * Position and text of a line. Numbers count in a large line: headings of chapters, each on a new page, may
 * differ in their numbers only.
 */
function keys(line: Line, isLarge: boolean): string[] {
  const text = isLarge ? lower(line) : patternOf(line)
  return gridCells(line).map((cell) => `${text}|${cell}`)
}

/** The text of a line without its numbers. A line of many numbers is data, which differs by them. */
function patternOf(line: Line): string {
  const text = lower(line)
  if ((text.match(/\d+/g) ?? []).length > maxNumbers) return text
  return text.replace(/\d+/g, '#').replace(romanNumber, '#')
}

function lower(line: Line): string {
  return line.text.toLowerCase().replace(/\s+/g, ' ')
}

/** The number of lines away from the edges that have each pattern. */
function countInside(
  pages: readonly Page[],
  candidates: readonly (readonly Line[])[],
): Map<string, number> {
  const counts = new Map<string, number>()
  pages.forEach(({ lines }, index) => {
    const edges = new Set(candidates[index])
    for (const line of lines) {
      if (edges.has(line)) continue
      const pattern = patternOf(line)
      counts.set(pattern, (counts.get(pattern) ?? 0) + 1)
    }
  })
  return counts
}

/** The cells of two shifted grids that a line is in, so that lines next to each other share at least one. */
function gridCells(line: Line): string[] {
  const position = line.y / tolerance
  return [`${Math.floor(position)}`, `${Math.floor(position + 0.5)}+`]
}
