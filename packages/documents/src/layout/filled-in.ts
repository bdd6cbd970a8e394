import { append } from '../document/append.js'
import type { FilledIn } from './annotations.js'
import type { Note } from './headers-footers.js'
import type { Line } from './lines.js'
import { median } from './measures.js'
import { type Direction, turn } from './pieces.js'
import type { Segment } from './segments.js'

/** Font sizes of values where the page has no text, in points. */
const usualSize = 11
/** Width of a letter, in multiples of its font size. */
const letterWidth = 0.5
/** Distance in which the label of a field is searched: above it, and beside a box. */
const labelZone = 2.5
/** Pairs of fields or notes and texts of a page that are compared. */
const maxPairs = 2_000_000
/** Distance of lines, in multiples of the font size. */
const lineHeight = 1.2

/** A rectangle in the coordinates of segments. */
interface Box {
  x0: number
  x1: number
  top: number
  bottom: number
}

/** From the rectangle of an annotation to the coordinates of segments. */
export type ToBox = (rect: readonly number[]) => Box

/**
 * @param transform from the coordinates of the page to the upright page
 * @param direction of the segments
 */
export function boxIn(transform: readonly number[], direction: Direction): ToBox {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = transform
  return ([left = 0, bottom = 0, right = 0, top = 0]) => {
    const corners = [
      [left, bottom],
      [right, top],
    ].map(([x = 0, y = 0]) => turn({ x: a * x + c * y + e, y: b * x + d * y + f }, direction))
    const [one = { x: 0, y: 0 }, other = one] = corners
    return {
      x0: Math.min(one.x, other.x),
      x1: Math.max(one.x, other.x),
      top: Math.min(one.y, other.y),
      bottom: Math.max(one.y, other.y),
    }
  }
}

/** Puts filled-in values among the segments of the page, each near its label. */
export function fillIn(
  segments: readonly Segment[],
  filled: readonly FilledIn[],
  toBox: ToBox,
): Segment[] {
  if (filled.length === 0) return [...segments]
  const size = segments.length > 0 ? median(segments.map((each) => each.size)) : usualSize
  const result = [...segments]
  let left = maxPairs
  for (const each of filled) {
    const box = toBox(each.rect)
    // On a page with too many, each stands where it is, without its label.
    const near = left > 0 ? segments : []
    left -= result.length
    if (each.isBox && left > 0) markLabel(result, each, box, size)
    else append(result, toSegments(near, each, box, size))
  }
  return result
}

function toSegments(
  segments: readonly Segment[],
  filled: FilledIn,
  box: Box,
  size: number,
): Segment[] {
  const beside = segments.filter(isBeside(box, size))
  const label = missingLabel(filled, segments, box, size)
  const lines = label === undefined ? filled.lines : withLabel(label, filled.lines)
  const single = nearest(beside, (segment) => Math.abs(box.bottom - segment.y))?.y
  const pitch = Math.min(size * lineHeight, (box.bottom - box.top) / lines.length)
  return lines.map((text, at) => {
    const y =
      lines.length === 1 ? (single ?? box.bottom - size * 0.3) : box.top + pitch * (at + 0.8)
    return toSegment(text, box, { y, size, font: fontOf(segments) })
  })
}

function withLabel(label: string, [first = '', ...rest]: readonly string[]): string[] {
  return [`${label.replace(/\s*:$/, '')}: ${first}`, ...rest]
}

function toSegment(
  text: string,
  box: Box,
  { y, size, font }: { y: number; size: number; font: string },
): Segment {
  const x1 = Math.max(box.x0 + 1, Math.min(box.x1, box.x0 + text.length * size * letterWidth))
  const same = { uniform: true, monospace: false, rightToLeft: false, joints: [] }
  return { text, x0: box.x0, x1, y, size, font, ...same }
}

/** The font of most text. */
function fontOf(segments: readonly Segment[]): string {
  const lengths = new Map<string, number>()
  for (const { font, text } of segments) lengths.set(font, (lengths.get(font) ?? 0) + text.length)
  return [...lengths].sort((a, b) => b[1] - a[1])[0]?.[0] ?? ''
}

/** Tells segments on a line with a field. */
function isBeside({ top, bottom }: Box, size: number): (segment: Segment) => boolean {
  return ({ y }) => y > Math.max(top + size * 0.3, bottom - size * 1.5) && y < bottom + size * 0.4
}

/** The label of a field, unless it stands on the page beside or above it. */
function missingLabel(
  { label, name }: FilledIn,
  segments: readonly Segment[],
  box: Box,
  size: number,
): string | undefined {
  const near = segments.filter(({ y, x0 }) => {
    const isNear = y > box.top - size * labelZone && y < box.bottom + size * labelZone
    return isNear && x0 < box.x1
  })
  if (label === undefined) return near.length === 0 ? name : undefined
  const own = lettersOf(label)
  const texts = near.map(({ text }) => lettersOf(text)).filter((text) => text !== '')
  const isShown = texts.some(
    (text) => text.includes(own) || (own.includes(text) && text.length > 2),
  )
  return isShown ? undefined : label
}

function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')
}

/** Puts the mark of a box before or after its label, whichever is nearer. */
function markLabel(segments: Segment[], filled: FilledIn, box: Box, size: number): void {
  const mark = filled.lines[0] ?? ''
  const beside = segments.filter(isBeside({ ...box, top: box.top - size }, size))
  const left = nearest(
    beside.filter(({ x1 }) => x1 <= box.x0 + size * 0.5),
    ({ x1 }) => box.x0 - x1,
  )
  const right = nearest(
    beside.filter(({ x0 }) => x0 >= box.x1 - size * 0.5),
    ({ x0 }) => x0 - box.x1,
  )
  const toLeft = left === undefined ? Number.POSITIVE_INFINITY : box.x0 - left.x1
  const toRight = right === undefined ? Number.POSITIVE_INFINITY : right.x0 - box.x1
  const isNear = Math.min(toLeft, toRight) < size * labelZone
  if (!isNear) {
    const text = [mark, filled.label ?? filled.name ?? ''].join(' ').trim()
    const y = box.bottom - size * 0.2
    segments.push(
      toSegment(
        text,
        { ...box, x1: box.x1 + text.length * size },
        { y, size, font: fontOf(segments) },
      ),
    )
  } else if (right !== undefined && toRight <= toLeft) {
    replace(segments, right, { text: `${mark} ${right.text.trimStart()}`, x0: box.x0 })
  } else if (left !== undefined) {
    replace(segments, left, { text: `${left.text.trimEnd()} ${mark}`, x1: box.x1 })
  }
}

function replace(segments: Segment[], segment: Segment, change: Partial<Segment>): void {
  segments[segments.indexOf(segment)] = { ...segment, joints: [], ...change }
}

function nearest<T>(items: readonly T[], distance: (item: T) => number): T | undefined {
  return items.reduce<T | undefined>(
    (best, item) => (best === undefined || distance(item) < distance(best) ? item : best),
    undefined,
  )
}

/**
 * Attaches notes to the lines beside which they stand.
 *
 * @param page number of the page, for a note on a page without lines
 */
export function attachNotes(lines: readonly Line[], notes: readonly Note[], page: number): Line[] {
  const result = [...lines]
  let left = maxPairs
  for (const { text, x, y } of notes) {
    left -= result.length
    // On a page with too many, the others follow at its end.
    if (left < 0) {
      result.push(lineOf(text, { x, y: Number.MAX_SAFE_INTEGER }, page))
      continue
    }
    const upright = result.filter(({ turned }) => turned === undefined)
    const inColumn = upright.filter(({ left, right }) => x >= left - 1 && x <= right + 1)
    const candidates = inColumn.length > 0 ? inColumn : upright
    const line = nearest(candidates, (each) => Math.abs(each.y - y)) ?? result.at(-1)
    if (line === undefined) result.push(lineOf(text, { x, y }, page))
    else result[result.indexOf(line)] = { ...line, notes: [...(line.notes ?? []), text] }
  }
  return result
}

function lineOf(text: string, { x, y }: { x: number; y: number }, page: number): Line {
  const box = { x0: x, x1: x + text.length, top: y, bottom: y }
  const segment = toSegment(text, box, { y, size: usualSize, font: '' })
  const { x0: left, x1: right } = segment
  return { ...segment, segments: [segment], left, right, page, opensColumn: true, isApart: true }
}
