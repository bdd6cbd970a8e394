import { median } from './columns.js'
import type { Line } from './lines.js'

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

/** A page of lines in reading order. */
export interface Page {
  lines: Line[]
  /** Height in points. */
  height: number
}

/**
 * Takes running headers, footers and page numbers off all pages: lines near the edge that stand at the
 * same place on several pages and differ in numbers only.
 */
export function withoutFurniture(pages: readonly Page[]): Line[][] {
  const places = new Map<string, Set<number>>()
  const size = median(pages.flatMap((page) => page.lines.map((line) => line.size)))
  const keysOf = (line: Line) => keys(line, line.size > size * LARGER)
  const candidates = pages.map((page) => edgeLines(page))
  candidates.forEach((lines, index) => {
    for (const line of lines) {
      for (const key of keysOf(line)) {
        const found = places.get(key)
        if (found === undefined) places.set(key, new Set([index]))
        else found.add(index)
      }
    }
  })
  // A leaflet of two pages repeats itself on both.
  const least = Math.min(LEAST_PAGES, Math.max(2, pages.length))
  return pages.map(({ lines }, index) => {
    const edges = new Set(candidates[index])
    return lines.filter((line) => {
      const repeats = keysOf(line).some((key) => (places.get(key)?.size ?? 0) >= least)
      return !edges.has(line) || !(repeats || PAGE_NUMBER.test(line.text))
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

/** The header of a table that goes on over several pages repeats, too. */
function isTableRow(line: Line, sorted: readonly Line[]): boolean {
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
 * Two keys, so that lines a hair apart share one wherever the grid falls. The number in a large line
 * counts: a chapter that begins on a new page is called like the one before it but for the number.
 */
function keys(line: Line, isLarge: boolean): string[] {
  const lower = line.text.toLowerCase().replace(/\s+/g, ' ')
  const text = isLarge ? lower : lower.replace(/\d+/g, '#').replace(ROMAN, '#')
  const place = line.y / TOLERANCE
  return [`${text}|${Math.floor(place)}`, `${text}|${Math.floor(place + 0.5)}+`]
}
