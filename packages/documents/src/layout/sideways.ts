import { append } from '../document/append.js'
import type { Omissions } from '../document/omissions.js'
import type { Page } from './headers-footers.js'
import type { Line } from './lines.js'
import { largest, median, smallest } from './measures.js'
import { type Direction, type Point, turn, turnBack } from './pieces.js'
import type { Segment } from './segments.js'

/** Segments that run in another direction than most of the page. */
export interface SidewaysText extends Direction {
  segments: Segment[]
}

/** Characters of the name of a column. */
const maxHeaderLength = 80
/** Distance of the lines of one header, in multiples of the font size. */
const maxLineDistance = 1.7
/** Distance of the header from the rows that are searched for cells below it, in multiples of its size. */
const bodyZone = 4.5
/** Share of the headers that have cells below them. */
const minShareOfBody = 0.6
/** Sine of the least angle between a header and the text of its table. */
const minTurn = 0.3
/** Rows of headers that are searched on a page, and segments in other directions with which it is a drawing. */
const maxHeaderRows = 20
const maxHeaders = 400

/** A sideways segment, seen in the direction of the page. */
interface Header {
  segment: Segment
  low: Point
  top: number
  size: number
}

/**
 * Turns the rotated names of columns, which have cells below them, into segments of the page, so that they
 * become the header of the table.
 *
 * @param main segments of the page in its direction, which may be changed by nothing but the result
 * @returns the names as segments of the page, and the text that remains in other directions
 */
export function takeHeaders(
  main: readonly Segment[],
  page: Direction,
  others: readonly SidewaysText[],
): { headers: Segment[]; others: SidewaysText[] } {
  const headers: Segment[] = []
  const rest = others.map((other) => {
    const turned = sineBetween(page, other)
    if (Math.abs(turned) < minTurn || other.segments.length > maxHeaders) return other
    const used = new Set<Segment>()
    let left = other.segments
      .filter(({ text }) => text.length <= maxHeaderLength)
      .map((segment) => toHeader(segment, other, page))
    for (let count = 0; count < maxHeaderRows; count += 1) {
      const row = headerRow(left, main)
      if (row === undefined) break
      append(headers, toCells(row, main, turned))
      for (const { segment } of row.flat()) used.add(segment)
      left = left.filter(({ segment }) => !used.has(segment))
    }
    return { ...other, segments: other.segments.filter((segment) => !used.has(segment)) }
  })
  return { headers, others: rest.filter(({ segments }) => segments.length > 0) }
}

/**
 * Turns segments in tagged cells into segments of the page: their cell says where they belong.
 */
export function takeCells(
  page: Direction,
  others: readonly SidewaysText[],
): { cells: Segment[]; others: SidewaysText[] } {
  const cells: Segment[] = []
  const rest = others.map((other) => {
    for (const segment of other.segments) {
      if (segment.cell === undefined) continue
      const { low, size } = toHeader(segment, other, page)
      cells.push({ ...segment, ...around(low.x, size), y: low.y, joints: [] })
    }
    return { ...other, segments: other.segments.filter(({ cell }) => cell === undefined) }
  })
  return { cells, others: rest.filter(({ segments }) => segments.length > 0) }
}

function sineBetween(page: Direction, other: Direction): number {
  return page.cos * other.sin - page.sin * other.cos
}

function toHeader(segment: Segment, from: Direction, page: Direction): Header {
  const ends = [segment.x0, segment.x1].map((x) => turn(turnBack({ x, y: segment.y }, from), page))
  const [start = { x: 0, y: 0 }, end = start] = ends
  const low = start.y >= end.y ? start : end
  return { segment, low, top: Math.min(start.y, end.y), size: segment.size }
}

/** The longest row of headers that end at one height, or begin or are centred at one, above cells. */
function headerRow(left: readonly Header[], main: readonly Segment[]): Header[][] | undefined {
  const groups = groupLines(left)
  const heights = [
    (group: readonly Header[]) => bottomOf(group),
    (group: readonly Header[]) => topOf(group),
    (group: readonly Header[]) => (bottomOf(group) + topOf(group)) / 2,
  ]
  for (const heightOf of heights) {
    for (const seed of groups) {
      const size = seed[0]?.size ?? 1
      const row = groups.filter((each) => Math.abs(heightOf(each) - heightOf(seed)) <= size)
      if (row.length >= 2 && hasBody(row, main)) return row
    }
  }
  return undefined
}

/** Lines beside each other are one header. */
function groupLines(headers: readonly Header[]): Header[][] {
  const groups: Header[][] = []
  for (const header of [...headers].sort((a, b) => a.low.x - b.low.x)) {
    const group = groups.findLast((each) => {
      const last = each.at(-1)
      return last !== undefined && header.low.x - last.low.x <= last.size * maxLineDistance
    })
    const isBeside =
      group !== undefined && header.top < bottomOf(group) && header.low.y > topOf(group)
    if (isBeside) group.push(header)
    else groups.push([header])
  }
  return groups
}

function bottomOf(group: readonly Header[]): number {
  return largest(group.map(({ low }) => low.y))
}

function topOf(group: readonly Header[]): number {
  return smallest(group.map(({ top }) => top))
}

function hasBody(row: readonly Header[][], main: readonly Segment[]): boolean {
  const bottom = largest(row.map(bottomOf))
  const size = median(row.flat().map((header) => header.size))
  const body = main.filter(({ y }) => y > bottom && y <= bottom + size * bodyZone)
  const above = row.filter((group) => {
    const x = middleOf(group)
    return body.some(({ x0, x1 }) => x0 < x + size * 1.5 && x1 > x - size * 1.5)
  })
  const cells = new Set(body.map(({ x0 }) => Math.round(x0)))
  return above.length >= Math.max(2, row.length * minShareOfBody) && cells.size >= 2
}

function middleOf(group: readonly Header[]): number {
  const places = group.map(({ low }) => low.x)
  return (smallest(places) + largest(places)) / 2
}

/** Headers as cells on the baseline of the upright cells beside them, such as the name of the first column. */
function toCells(row: readonly Header[][], main: readonly Segment[], turned: number): Segment[] {
  const bottom = largest(row.map(bottomOf))
  const top = smallest(row.map(topOf))
  const beside = main.filter(({ y, size }) => y > top && y < bottom + size * 0.5)
  const y = Math.max(bottom, ...beside.map((segment) => segment.y))
  return row.flatMap((group) => {
    const lines = [...group].sort((a, b) => a.segment.y - b.segment.y)
    const [first] = lines
    if (first === undefined) return []
    const { segment, size } = first
    const text = lines.map((line) => line.segment.text.trim()).join(' ')
    // Letters stand to the left of a baseline that runs upwards.
    const x = middleOf(group) + size * 0.25 * Math.sign(turned)
    return [{ ...segment, text, ...around(x, size), y, joints: [], rightToLeft: false }]
  })
}

function around(x: number, size: number): { x0: number; x1: number } {
  return { x0: x - size / 2, x1: x + size / 2 }
}

/** Ratio of the size of a watermark to that of the text, and its least size where there is none, in points. */
const watermarkRatio = 1.6
const minWatermarkSize = 28
const maxWatermarkLength = 60
/** Occurrences of a diagonal text of any size on a page that is covered with it. */
const minTiles = 4

/** Whether slanted lines may be a watermark: large, or the same text all over the page. */
export function mayBeWatermark(
  lines: readonly { text: string; size: number }[],
  { cos, sin }: Direction,
  textSize: number,
): boolean {
  if (cos === 0 || sin === 0) return false
  const size = median(lines.map((line) => line.size))
  const isLarge = textSize > 0 ? size >= textSize * watermarkRatio : size >= minWatermarkSize
  const texts = new Set(lines.map(({ text }) => text))
  const length = lines.reduce((sum, { text }) => sum + text.length, 0)
  return (isLarge && length <= maxWatermarkLength) || lines.length >= texts.size * minTiles
}

/** Pages with the same text at an edge which make it a running one. */
const minPages = 3

/**
 * Removes watermarks, which it reports, and sideways text at the edge of several pages, like a running
 * header.
 */
export function withoutWatermarks(pages: readonly Page[], omissions: Omissions): Page[] {
  const pagesOf = new Map<string, Set<number>>()
  pages.forEach(({ lines }, at) => {
    for (const line of lines) {
      if (line.turned === undefined) continue
      const key = keyOf(line)
      pagesOf.set(key, (pagesOf.get(key) ?? new Set()).add(at))
    }
  })
  // Text that is on one of many pages belongs to this page.
  const least = pages.length >= minPages ? 2 : 1
  return pages.map((page, at) => {
    const lines = page.lines.filter((line) => {
      if (line.turned === undefined) return true
      const count = pagesOf.get(keyOf(line))?.size ?? 0
      if (line.turned === 'edge') return count < minPages
      if (line.turned !== 'watermark' || count < least) return true
      omissions.add('other_direction', { page: at + 1 }, { detail: line.text.slice(0, 80) })
      return false
    })
    return { ...page, lines }
  })
}

function keyOf({ text, turned }: Line): string {
  const words = text.toLowerCase().replace(/\s+/g, ' ')
  return `${turned} ${turned === 'edge' ? words.replace(/\d+/g, '#') : words}`
}
