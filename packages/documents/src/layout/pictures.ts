import { type Matrix, multiply } from './matrix.js'
import type { TextContent } from './parser.js'

/** A picture that a page draws. */
export interface Picture {
  /** From the square of one unit that it fills to the coordinates of the page. */
  matrix: Matrix
  /** Number of its pixels; undefined if it is not known. */
  pixels: number | undefined
  /** Number of its object; undefined for a picture within the drawing. */
  object: number | undefined
  /** Whether the document has a text for it, or states that it is decoration. */
  isDescribed: boolean
}

interface Box {
  left: number
  bottom: number
  right: number
  top: number
}

/** The pictures of a page of which nothing was read. */
export interface UnreadPictures {
  /** Number of pictures; parts of one picture count once. */
  count: number
  /** Share of the page that they cover, at most 1. */
  share: number
}

/** Shares of a page: smaller pictures are logos or signs, and from the other one on it is the page. */
const minShare = 0.02
const pageShare = 0.5
/** Points of each side; thinner pictures are lines. */
const minSide = 48
/** Fewer pixels cannot show text: the picture is a coloured background. */
const minPixels = 4096
/** Points between parts of one picture. */
const maxSeam = 2
/** Parts of pictures on a page that are compared. */
const maxParts = 500
/** Strips of a picture, and the number of those with text from which on it is a background or was recognised. */
const strips = 20
const minStripsWithText = 4

/**
 * Finds the pictures of a page that nothing describes: not logos, lines or backgrounds, and not those under text, such
 * as of a text recognition. A picture that was on an earlier page counts there.
 *
 * @param area of the page, in square points
 */
export function unreadPictures(
  pictures: readonly Picture[],
  { area, content, known }: { area: number; content: TextContent; known: Set<number> },
): UnreadPictures {
  const parts = pictures
    .filter(({ isDescribed }) => !isDescribed)
    .slice(0, maxParts)
    .map((picture) => ({ ...picture, box: boxOf(picture.matrix) }))
  const isPage = ({ box }: { box: Box }) => sizeOf(box) >= area * pageShare
  // A background of the whole page would join all pictures on it to one.
  const others = parts.filter((part) => !isPage(part) || !isUnderText(part.box, content))
  let [count, share] = [0, 0]
  for (const group of groupsOf(others)) {
    const box = group.map((part) => part.box).reduce(around)
    const pixels = group.reduce((sum, part) => sum + (part.pixels ?? minPixels), 0)
    const isLarge = sizeOf(box) >= area * minShare && sideOf(box) >= minSide
    if (!isLarge || isUnderText(box, content)) continue
    share += sizeOf(box) / area
    const isKnown = group.every(({ object }) => object !== undefined && known.has(object))
    if (pixels >= minPixels && !isKnown) count += 1
    for (const { object } of group) if (object !== undefined) known.add(object)
  }
  return { count, share: Math.min(1, share) }
}

/** Share of a page that pictures cover, at most 1, without letters of a font of pictures. */
export function pictureShare(pictures: readonly Picture[], area: number): number {
  const shares = pictures
    .map(({ matrix }) => shareOf(matrix, area))
    .filter((share) => share >= minLetter)
  return Math.min(
    1,
    shares.reduce((sum, share) => sum + Math.min(1, share), 0),
  )
}

/** Share of the page below which a picture may be a letter. */
const minLetter = 0.004

function shareOf(matrix: Matrix, area: number): number {
  return Math.abs(matrix[0] * matrix[3] - matrix[1] * matrix[2]) / area
}

function boxOf(matrix: Matrix): Box {
  const corners = [
    [0, 0],
    [1, 0],
    [0, 1],
    [1, 1],
  ].map(([x = 0, y = 0]) => multiply(matrix, [1, 0, 0, 1, x, y]))
  const [xs, ys] = [corners.map((each) => each[4]), corners.map((each) => each[5])]
  return {
    left: Math.min(...xs),
    right: Math.max(...xs),
    bottom: Math.min(...ys),
    top: Math.max(...ys),
  }
}

function around(one: Box, other: Box): Box {
  return {
    left: Math.min(one.left, other.left),
    right: Math.max(one.right, other.right),
    bottom: Math.min(one.bottom, other.bottom),
    top: Math.max(one.top, other.top),
  }
}

function sizeOf({ left, right, bottom, top }: Box): number {
  return (right - left) * (top - bottom)
}

function sideOf({ left, right, bottom, top }: Box): number {
  return Math.min(right - left, top - bottom)
}

/** Groups parts that overlap or touch, as programs divide large pictures. */
function groupsOf<T extends { box: Box }>(parts: readonly T[]): T[][] {
  const groups: T[][] = []
  const left = new Set(parts)
  for (const first of parts) {
    if (!left.delete(first)) continue
    const group = [first]
    for (const { box } of group) {
      for (const other of left) {
        if (!isTouching(box, other.box)) continue
        left.delete(other)
        group.push(other)
      }
    }
    groups.push(group)
  }
  return groups
}

function isTouching(one: Box, other: Box): boolean {
  return (
    one.left < other.right + maxSeam &&
    one.right > other.left - maxSeam &&
    one.bottom < other.top + maxSeam &&
    one.top > other.bottom - maxSeam
  )
}

/** Whether lines of text stand all over a picture. */
function isUnderText({ left, right, bottom, top }: Box, { items }: TextContent): boolean {
  const rows = new Set<number>()
  const columns = new Set<number>()
  let [across, along] = [0, 0]
  for (const item of items) {
    if (!('str' in item) || item.str.trim() === '') continue
    const [a = 0, b = 0, , , x = 0, y = 0] = item.transform
    if (x < left || x > right || y < bottom || y > top) continue
    // Slanted text is a watermark.
    if (Math.abs(a) > Math.abs(b) * 10) {
      across += 1
      rows.add(Math.floor(((y - bottom) / (top - bottom)) * strips))
    } else if (Math.abs(b) > Math.abs(a) * 10) {
      along += 1
      columns.add(Math.floor(((x - left) / (right - left)) * strips))
    }
  }
  return (across >= along ? rows : columns).size >= minStripsWithText
}
