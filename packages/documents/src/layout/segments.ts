import type { Extent } from './measures.js'
import type { TextContent } from './parser.js'
import type { Piece } from './pieces.js'
import { isStacked, type Script, scriptKind, withScript } from './scripts.js'

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
  /** Joints of pieces: offset in the text, left edge of the second piece and right edge of the first. */
  joints: { at: number; x: number; end: number }[]
  /** Number on the page of the tagged cell that it belongs to. */
  cell?: number | undefined
  /** The tagged table that it stands for. */
  table?: TaggedTable
}

const letterPattern = /[\p{L}\p{N}]/u
const wideScripts = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]/u
/** Wider gaps separate columns and cells, in multiples of the font size. */
const maxGap = 0.85
/** Narrower gaps are the space between letters, in multiples of the font size. */
const minSpace = 0.12

/** A segment that more pieces may be joined to. */
interface Draft extends Segment {
  /** Characters of text with letters or digits, by font. */
  letters: Map<string, number>
  /** Raised or lowered text at its end. */
  script?: Script | undefined
}

/** Joins pieces of text of one direction into segments, in drawing order. */
export function toSegments(pieces: readonly Piece[], styles: TextContent['styles']): Segment[] {
  const drafts: Draft[] = []
  let isSpaced = false
  for (const piece of pieces) {
    if (piece.text.trim() === '') {
      isSpaced ||= piece.text !== ''
      continue
    }
    const last = drafts.at(-1)
    if (last === undefined || !append(last, piece, isSpaced)) drafts.push(toDraft(piece))
    isSpaced = false
  }
  const isMonospace = (font: string) => styles[font]?.fontFamily === 'monospace'
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
function finish(
  { letters, script: _, ...segment }: Draft,
  isMonospace: (font: string) => boolean,
): Segment {
  const used = [...letters].filter(([, count]) => count > 0).sort((a, b) => b[1] - a[1])
  const fonts = used.length > 0 ? used.map(([font]) => font) : [segment.font]
  const [font = segment.font] = fonts
  // All characters of Chinese and Japanese have one width, also in prose.
  const monospace = fonts.every(isMonospace) && !wideScripts.test(segment.text)
  return { ...segment, font, uniform: fonts.length === 1, monospace }
}

/** Length of a text; signs alone count as 0, because they may be in any font. */
function lettersOf(text: string): number {
  return letterPattern.test(text) ? text.length : 0
}

/** Appends a piece if it continues the segment; returns whether it did. */
function append(last: Draft, piece: Piece, isSpaced: boolean): boolean {
  if (piece.cell !== last.cell) return false
  const kind = piece.rightToLeft ? undefined : scriptKind(piece, last)
  if (kind !== undefined) return appendScript(last, piece, { kind, isSpaced })
  if (follows(last, piece)) return appendToMark(last, piece)
  const drift = Math.abs(piece.y - last.y)
  const isSmall = piece.size < last.size * 0.85 && drift < last.size * 0.6
  if (drift > last.size * 0.2 && !isSmall) return false
  if (isBefore(last, piece)) return prepend(last, piece, isSpaced)
  const size = Math.max(last.size, piece.size)
  const after = piece.x - last.x1
  const before = last.x0 - (piece.x + piece.width)
  const gap = piece.rightToLeft && last.rightToLeft ? before : after
  if (gap > size * maxGap || gap < -size * 0.5) return drift < 1 && isRepeated(last, piece)
  const isGap = isSpaced || gap > size * minSpace
  const needsSpace = isGap && !/\s$/.test(last.text)
  const isGlued = last.script?.isMarked === true && letterPattern.test(piece.text.charAt(0))
  last.joints.push({ at: last.text.length, x: piece.x, end: last.x1 })
  const space = (needsSpace || isGlued) && !/^\s/.test(piece.text) ? ' ' : ''
  last.text += space + piece.text
  last.script = undefined
  extend(last, piece)
  return true
}

/** Whether a piece to the right of a segment comes before it: browsers draw lines of Hebrew and Arabic from left to right. */
function isBefore(last: Draft, piece: Piece): boolean {
  const isReversed =
    (last.rightToLeft && (piece.rightToLeft || !/\p{L}/u.test(piece.text))) ||
    (piece.rightToLeft && !/\p{L}/u.test(last.text))
  const size = Math.max(last.size, piece.size)
  const gap = piece.x - last.x1
  return isReversed && gap <= size * maxGap && gap >= -size * 0.5
}

function prepend(last: Draft, piece: Piece, isSpaced: boolean): true {
  const isApart = isSpaced || piece.x - last.x1 > Math.max(last.size, piece.size) * minSpace
  const space = isApart && !/\s$/.test(piece.text) && !/^\s/.test(last.text) ? ' ' : ''
  last.text = `${piece.text}${space}${last.text}`
  last.rightToLeft = true
  last.joints = []
  last.script = undefined
  extend(last, piece)
  return true
}

/** Whether a piece is the end of the text again, drawn a second time to look bold or by a text recognition. */
function isRepeated(last: Draft, piece: Piece): boolean {
  const text = piece.text.trim()
  const isStart = Math.abs(piece.x - last.x0) < 1 && last.text.startsWith(text)
  const shift = Math.abs(piece.x + piece.width - last.x1)
  return isStart || (shift < last.size * 0.3 && last.text.endsWith(text))
}

/** Appends raised or lowered text. */
function appendScript(
  last: Draft,
  piece: Piece,
  { kind, isSpaced }: { kind: 'raised' | 'lowered'; isSpaced: boolean },
): boolean {
  const isAbove = last.script !== undefined && isStacked(last.script, piece, kind)
  const gap = piece.x - last.x1
  if (!isAbove && (gap > last.size * maxGap || gap < -last.size * 0.3)) return false
  const isApart = isSpaced || /\s$/.test(last.text) || gap > last.size * minSpace
  Object.assign(last, withScript(last.text, last.script, piece, { kind, isApart }))
  extend(last, piece)
  return true
}

const footnoteMark = /^(?:[\p{L}\p{N}]{1,3}|[*†‡§¶]{1,3})$/u

/** Whether a piece is the text of a footnote, whose raised mark is the segment so far. */
function follows(last: Draft, piece: Piece): boolean {
  if (last.size >= piece.size * 0.85 || last.text.length > 4) return false
  const mark = { text: '', x: 0, width: 0, font: '', rightToLeft: false, cell: undefined }
  if (scriptKind({ ...mark, y: last.y, size: last.size }, piece) !== 'raised') return false
  const gap = piece.x - last.x1
  const isNear = gap > -piece.size * 0.3 && gap < piece.size * maxGap
  return isNear && !piece.rightToLeft && footnoteMark.test(last.text.trim())
}

function appendToMark(last: Draft, piece: Piece): boolean {
  const { y, size, font } = piece
  Object.assign(last, { y, size, font, text: `${last.text.trim()} ${piece.text.trimStart()}` })
  last.letters.clear()
  extend(last, piece)
  return true
}

function extend(last: Draft, piece: Piece): void {
  last.x0 = Math.min(last.x0, piece.x)
  last.x1 = Math.max(last.x1, piece.x + piece.width)
  last.letters.set(piece.font, (last.letters.get(piece.font) ?? 0) + lettersOf(piece.text))
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

/** Share of the narrower one of two texts that the other one covers, if both are the same text. */
const minOverlap = 0.7

/**
 * Leaves out text that is drawn again where it stands already, such as invisible text of a text recognition
 * over text that can be read.
 */
export function withoutRepeats(segments: readonly Segment[]): Segment[] {
  const repeated = new Set<Segment>()
  for (const row of toRows(segments)) {
    let last: Segment | undefined
    for (const segment of row.sort((a, b) => a.x0 - b.x0)) {
      if (last !== undefined && isSameText(last, segment)) {
        const isLonger = segment.text.length > last.text.length
        repeated.add(isLonger ? last : segment)
        if (!isLonger) continue
      }
      if (last === undefined || segment.x1 > last.x1) last = segment
    }
  }
  return repeated.size === 0 ? [...segments] : segments.filter((each) => !repeated.has(each))
}

function isSameText(one: Segment, other: Segment): boolean {
  const overlap = Math.min(one.x1, other.x1) - Math.max(one.x0, other.x0)
  const width = Math.min(one.x1 - one.x0, other.x1 - other.x0)
  if (!(overlap > 0 && overlap >= width * minOverlap)) return false
  const [short, long] = [one.text, other.text]
    .map((text) => text.replace(/\s+/g, ''))
    .sort((a, b) => a.length - b.length)
  return short !== undefined && short !== '' && long?.includes(short) === true
}
