import type { Extent } from './measures.js'
import type { TextContent, TextItem } from './parser.js'

/** A table whose cells are tagged in the document. */
export interface TaggedTable {
  /** Lines of each cell of each row; an empty cell has none. */
  rows: string[][][]
  columns: Extent[]
}

/** Text on one baseline, with its position and font. */
export interface TypesetText {
  text: string
  /** Left and right edge, in points from the left edge of the upright page. */
  x0: number
  x1: number
  /** Baseline, in points from the top. */
  y: number
  /** Size of the font of most of it, in points. */
  size: number
  /** Name of the font of most of its letters within the document. */
  font: string
  /** Whether all letters are of that font. */
  uniform: boolean
  /** Whether all letters have the same width. */
  monospace: boolean
}

/** Text without a wide gap: a line of a column or a cell of a table. */
export interface Segment extends TypesetText {
  rightToLeft: boolean
  /** Where two pieces were joined: offset in the text, left edge of the second and right edge of the first. */
  joints: { at: number; x: number; end: number }[]
  /** Number on the page of the tagged cell that it belongs to. */
  cell?: number | undefined
  /** The tagged table that it stands for. */
  table?: TaggedTable
}

const letterPattern = /[\p{L}\p{N}]/u
/** Wider gaps separate columns and cells, in multiples of the font size. */
const maxGap = 0.85
/** Narrower gaps are the space between letters, in multiples of the font size. */
const minSpace = 0.12

/** A segment that more pieces may be joined to. */
interface Draft extends Segment {
  /** Characters of text with letters or digits, by font. */
  letters: Map<string, number>
}

/** A piece of text of the parser, in coordinates of the upright page. */
interface Piece {
  text: string
  x: number
  y: number
  width: number
  size: number
  font: string
  rightToLeft: boolean
  cell: number | undefined
}

/**
 * Joins the pieces of text that a PDF draws into segments, in drawing order. Text in another direction
 * than most of the page, such as a watermark, is left out.
 *
 * @param transform from the coordinates of the page to the upright page
 * @param cells tagged cells by the id of their content; texts of different cells are never joined
 */
export function toSegments(
  content: TextContent,
  transform: readonly number[],
  cells: ReadonlyMap<string, number> = new Map(),
): Segment[] {
  const drafts: Draft[] = []
  let isSpaced = false
  for (const piece of toPieces(content, transform, cells)) {
    if (piece.text.trim() === '') {
      isSpaced ||= piece.text !== ''
      continue
    }
    const last = drafts.at(-1)
    if (last === undefined || !append(last, piece, isSpaced)) drafts.push(toDraft(piece))
    isSpaced = false
  }
  const isMonospace = (font: string) => content.styles[font]?.fontFamily === 'monospace'
  return drafts.map((draft) => finish(draft, isMonospace))
}

function toDraft({ text, x, y, width, size, font, rightToLeft, cell }: Piece): Draft {
  return {
    text,
    x0: x,
    x1: x + width,
    y,
    size,
    font,
    rightToLeft,
    cell,
    uniform: true,
    monospace: false,
    joints: [],
    letters: new Map([[font, lettersOf(text)]]),
  }
}

/** Determines the main font by all letters: the first word may be bold or code. */
function finish({ letters, ...segment }: Draft, isMonospace: (font: string) => boolean): Segment {
  const used = [...letters].filter(([, count]) => count > 0).sort((a, b) => b[1] - a[1])
  const fonts = used.length > 0 ? used.map(([font]) => font) : [segment.font]
  const [font = segment.font] = fonts
  return { ...segment, font, uniform: fonts.length === 1, monospace: fonts.every(isMonospace) }
}

/** Length of a text; signs alone count as 0, because they may be in any font. */
function lettersOf(text: string): number {
  return letterPattern.test(text) ? text.length : 0
}

/** Appends a piece if it continues the segment; returns whether it did. */
function append(last: Draft, piece: Piece, isSpaced: boolean): boolean {
  if (piece.cell !== last.cell) return false
  const drift = Math.abs(piece.y - last.y)
  const isRaised = piece.size < last.size * 0.85 && drift < last.size * 0.6
  if (drift > last.size * 0.2 && !isRaised) return false
  const size = Math.max(last.size, piece.size)
  const after = piece.x - last.x1
  const before = last.x0 - (piece.x + piece.width)
  const gap = piece.rightToLeft && last.rightToLeft ? before : after
  if (gap > size * maxGap || gap < -size * 0.5) {
    // Bold type is sometimes the same text drawn twice, slightly shifted.
    return drift < 1 && Math.abs(piece.x - last.x0) < 1 && last.text.startsWith(piece.text)
  }
  const needsSpace = (isSpaced || gap > size * minSpace) && !/\s$/.test(last.text)
  last.joints.push({ at: last.text.length, x: piece.x, end: last.x1 })
  last.text += needsSpace && !/^\s/.test(piece.text) ? ` ${piece.text}` : piece.text
  last.x0 = Math.min(last.x0, piece.x)
  last.x1 = Math.max(last.x1, piece.x + piece.width)
  last.letters.set(piece.font, (last.letters.get(piece.font) ?? 0) + lettersOf(piece.text))
  return true
}

type Direction = 'right' | 'down' | 'left' | 'up' | 'slanted'

function toPieces(
  content: TextContent,
  transform: readonly number[],
  cells: ReadonlyMap<string, number>,
): Piece[] {
  const [va = 1, vb = 0, vc = 0, vd = 1, ve = 0, vf = 0] = transform
  const counts = new Map<Direction, number>()
  const cellOf = createCellFinder(cells)
  const positioned = content.items.flatMap((item) => {
    const cell = cellOf(item)
    if (!isText(item)) return []
    const [a = 0, b = 0, , , e = 0, f = 0] = item.transform
    const direction = directionOf(va * a + vc * b, vb * a + vd * b)
    counts.set(direction, (counts.get(direction) ?? 0) + item.str.trim().length)
    return [{ item, cell, direction, x: va * e + vc * f + ve, y: vb * e + vd * f + vf }]
  })
  const [main = 'right'] = [...counts].sort((one, other) => other[1] - one[1])[0] ?? []
  return positioned.flatMap(({ item, cell, direction, x, y }) => {
    // A space of a font without size has no direction.
    if (direction !== main && item.str.trim() !== '') return []
    const position = rotate(main, x, y)
    return [
      {
        text: item.str,
        ...position,
        width: item.width,
        size: item.height || Math.hypot(Number(item.transform[2]), Number(item.transform[3])) || 1,
        font: item.fontName,
        rightToLeft: item.dir === 'rtl',
        cell,
      },
    ]
  })
}

/** Returns a function that is called with the items of a page in order and returns the cell that each is in. */
function createCellFinder(cells: ReadonlyMap<string, number>) {
  const open: (number | undefined)[] = []
  return (item: TextContent['items'][number]): number | undefined => {
    if (isText(item)) return open.at(-1)
    if (item.type === 'endMarkedContent') open.pop()
    else open.push(item.id === undefined ? open.at(-1) : cells.get(item.id))
    return undefined
  }
}

function isText(item: TextContent['items'][number]): item is TextItem {
  return 'str' in item
}

function directionOf(x: number, y: number): Direction {
  const across = Math.abs(x)
  const along = Math.abs(y)
  if (along <= across * 0.1) return x >= 0 ? 'right' : 'left'
  if (across <= along * 0.1) return y > 0 ? 'down' : 'up'
  return 'slanted'
}

/** Coordinates on the page rotated so that its text runs to the right. */
function rotate(direction: Direction, x: number, y: number): { x: number; y: number } {
  switch (direction) {
    case 'up':
      return { x: -y, y: x }
    case 'down':
      return { x: y, y: -x }
    case 'left':
      return { x: -x, y: -y }
    case 'right':
    case 'slanted':
      return { x, y }
  }
}

/** Baselines that differ less belong to one line, in multiples of the font size. */
const maxBaselineDrift = 0.35

/** Groups segments by baseline, from top to bottom. */
export function toRows(segments: readonly Segment[]): Segment[][] {
  const rows: Segment[][] = []
  let baseline = Number.NEGATIVE_INFINITY
  for (const segment of [...segments].sort((a, b) => a.y - b.y)) {
    const row = rows.at(-1)
    if (row !== undefined && segment.y - baseline <= segment.size * maxBaselineDrift)
      row.push(segment)
    else {
      rows.push([segment])
      baseline = segment.y
    }
  }
  return rows
}
