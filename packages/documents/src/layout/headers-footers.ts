import type { Line } from './lines.js'
import { median } from './lines.js'

/** Lines at the top and at the bottom of a page that may repeat. */
const MOST_LINES = 4
/** Share of the height in which they stand. */
const ZONE = 0.16
/** Pages on which a line must stand at one place. */
const LEAST_PAGES = 3
/** Points by which that place may differ. */
const TOLERANCE = 4
/** A line in larger type than most is rather a heading. */
const LARGER = 1.12
const PAGE_NUMBER =
  /^[-–—]?\s*(?:(?:page|seite|página|pagina|p\.)\s*)?\d{1,4}(?:\s*(?:of|von|de|di|\/)\s*\d{1,4})?\s*[-–—]?$/i
const ROMAN = /\b[ivxlcdm]+\b/g
/** A running header that ends with the number of the page, or begins with it on the left pages of a book. */
const LAST_NUMBER = /\D\s(\d{1,4})$/
const FIRST_NUMBER = /^(\d{1,4})\s+\p{L}/u

/** A page of lines in reading order. */
export interface Page {
  lines: Line[]
  /** Height in points. */
  height: number
}

/**
 * Takes running headers, footers and page numbers off all pages: lines near the edge that stand at the
 * same place on several pages and differ in numbers only, or that count the pages, whatever else they say:
 * the name of a chapter changes with the chapter, which may have two pages.
 */
export function withoutFurniture(pages: readonly Page[]): Line[][] {
  const places = new Map<string, Set<number>>()
  const size = median(pages.flatMap((page) => page.lines.map((line) => line.size)))
  const isLarge = (line: Line) => line.size > size * LARGER
  const keysOf = (line: Line) => keys(line, isLarge(line))
  const candidates = pages.map((page) => edgeLines(page))
  const counting = countingLines(candidates, isLarge)
  candidates.forEach((lines, index) => {
    for (const line of lines) {
      for (const key of keysOf(line)) {
        const found = places.get(key)
        if (found === undefined) places.set(key, new Set([index]))
        else found.add(index)
      }
    }
  })
  const inside = countInside(pages, candidates)
  // A leaflet of two pages repeats itself on both.
  const least = Math.min(LEAST_PAGES, Math.max(2, pages.length))
  return pages.map(({ lines }, index) => {
    const edges = new Set(candidates[index])
    return lines.filter((line) => {
      if (!edges.has(line)) return true
      if (PAGE_NUMBER.test(line.text)) return false
      const most = Math.max(...keysOf(line).map((key) => places.get(key)?.size ?? 0))
      // Lines of a log or a listing are alike wherever they stand, so some stand at the edges.
      const isText = (inside.get(patternOf(line)) ?? 0) >= most
      return isText || !(most >= least || counting.has(line))
    })
  })
}

function edgeLines({ lines, height }: Page): Line[] {
  if (lines.length === 0) return []
  const sorted = [...lines].sort((a, b) => a.y - b.y)
  const top = Math.min(0, sorted[0]?.y ?? 0)
  const isTop = (line: Line) => line.y - top < height * ZONE
  const isBottom = (line: Line) => line.y - top > height * (1 - ZONE)
  const heads = sorted.slice(0, MOST_LINES).filter(isTop)
  const feet = sorted.slice(-MOST_LINES).filter(isBottom)
  return [...heads, ...feet].filter((line) => !isTableRow(line, sorted))
}

/**
 * Lines whose number goes up with the pages. A number in front counts only where the same count stands at
 * the end of other lines: `2 Methods` on the second page is rather a heading.
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
      const number = LAST_NUMBER.exec(line.text)?.[1]
      const isFirst = number === undefined
      const count = number ?? FIRST_NUMBER.exec(line.text)?.[1]
      if (count === undefined) continue
      for (const place of grid(line)) {
        const key = `${Number(count) - index}|${place}`
        const group = isFirst ? first : last
        group.set(key, (group.get(key) ?? new Set()).add(line))
      }
    }
  })
  const found = new Set<Line>()
  for (const [key, lines] of last) {
    if (lines.size < LEAST_PAGES) continue
    for (const line of [...lines, ...(first.get(key) ?? [])]) found.add(line)
  }
  return found
}

/** The header of a table that goes on over several pages repeats, too. */
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
 * The number in a large line counts: a chapter that begins on a new page is called like the one before it
 * but for the number.
 */
function keys(line: Line, isLarge: boolean): string[] {
  const text = isLarge ? lower(line) : patternOf(line)
  return grid(line).map((place) => `${text}|${place}`)
}

/** A line but for its numbers. */
function patternOf(line: Line): string {
  return lower(line).replace(/\d+/g, '#').replace(ROMAN, '#')
}

function lower(line: Line): string {
  return line.text.toLowerCase().replace(/\s+/g, ' ')
}

/** How often each pattern occurs away from the edges. */
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

/** Two names of a place, so that lines a hair apart share one wherever the grid falls. */
function grid(line: Line): string[] {
  const place = line.y / TOLERANCE
  return [`${Math.floor(place)}`, `${Math.floor(place + 0.5)}+`]
}
