import { largest, largestCluster } from './measures.js'
import type { Segment } from './segments.js'
import { toRows } from './segments.js'

/** Rows with aligned gaps that make columns, where the parser returns several words as one piece ... */
const minRows = 4
/** ... and where each word is a piece of its own, so that gaps between words align by chance. */
const minRowsOfWords = 10
/** Share of the rows whose text is aligned on one side of the gap. */
const minAligned = 0.6
/** Points by which aligned texts may differ. */
const tolerance = 0.75
/** Narrower gaps are within words, in multiples of the font size. */
const minGap = 0.15
/** Distance of rows of one table, in multiples of the font size. */
const maxRowGap = 3.5
/** Lines in a row that have text on one side of the gap only, such as of a long cell. */
const maxCellLines = 20
/** Gaps of a page; with more, it is a drawing and would take long, as each gap is compared with all rows. */
const maxGaps = 5000
const listMark = /^(?:[^\p{L}\p{N}]|\(?(?:\d{1,3}|\p{L}|[ivx]{1,4})[.)])$/u

/** Space between two pieces of a row. */
interface Gap {
  x0: number
  x1: number
  /** The segment that contains it and the offset in its text; neither for a gap between two segments. */
  segment?: Segment
  at?: number
  /** Right edge of the text to the right of it, up to the next gap. */
  end: number
}

interface Row {
  segments: Segment[]
  gaps: Gap[]
  x0: number
  x1: number
  y: number
  size: number
  /** Whether each word is a piece of its own. */
  areWords: boolean
}

/**
 * Cuts segments at the cells of tables that are set so tightly that the gap between cells is as wide as a
 * space: such gaps are aligned over many rows, with aligned text on one side.
 */
export function cutAtAlignedGaps(segments: readonly Segment[]): Segment[] {
  const rows = toRows(segments).map(toRow)
  if (rows.reduce((count, { gaps }) => count + gaps.length, 0) > maxGaps) return [...segments]
  const cuts = new Map<Segment, Set<number>>()
  rows.forEach((row, at) => {
    for (const gap of row.gaps) {
      const { segment, at: offset } = gap
      if (segment === undefined || offset === undefined || cuts.get(segment)?.has(offset)) continue
      const gaps = alignedGaps(rows, at, gap.x1 - 0.2) ?? alignedGaps(rows, at, gap.x0 + 0.2)
      for (const each of gaps ?? []) {
        if (each.segment === undefined || each.at === undefined) continue
        cuts.set(each.segment, (cuts.get(each.segment) ?? new Set()).add(each.at))
      }
    }
  })
  return cuts.size === 0
    ? [...segments]
    : segments.flatMap((segment) => cut(segment, cuts.get(segment) ?? new Set()))
}

function toRow(unsorted: readonly Segment[]): Row {
  const segments = [...unsorted].sort((a, b) => a.x0 - b.x0)
  const [first] = segments
  const size = first?.size ?? 1
  const gaps: Gap[] = []
  segments.forEach((segment, at) => {
    const next = segments[at + 1]
    const joints = segment.rightToLeft || segment.monospace ? [] : segment.joints
    joints.forEach(({ at: offset, x, end }, index) => {
      const following = joints[index + 1]?.end ?? segment.x1
      if (x - end > size * minGap)
        gaps.push({ x0: end, x1: x, segment, at: offset, end: following })
    })
    if (next !== undefined && next.x0 > segment.x1) {
      gaps.push({ x0: segment.x1, x1: next.x0, end: next.joints[0]?.end ?? next.x1 })
    }
  })
  return {
    segments,
    gaps,
    size,
    areWords: segments.every(hasPiecePerWord),
    y: first?.y ?? 0,
    x0: first?.x0 ?? 0,
    x1: largest(segments.map(({ x1 }) => x1)),
  }
}

/** The gaps of adjacent rows at one x-coordinate, if they separate columns. */
function alignedGaps(rows: readonly Row[], at: number, x: number): Gap[] | undefined {
  const start = rows[at]
  if (start === undefined) return undefined
  const run: { row: Row; gap: Gap }[] = []
  for (const step of [-1, 1]) {
    let beside = 0
    let last = start
    for (let index = step === 1 ? at : at - 1; ; index += step) {
      const row = rows[index]
      if (row === undefined) break
      if (Math.abs(row.y - last.y) > Math.max(row.size, last.size) * maxRowGap) break
      last = row
      const gap = row.gaps.find(({ x0, x1 }) => x0 < x && x1 > x)
      if (gap !== undefined) {
        run.push({ row, gap })
        beside = 0
      } else if ((row.x0 >= x || row.x1 <= x) && beside < maxCellLines) beside += 1
      else break
    }
  }
  const areWords = run.every(({ row }) => row.areWords)
  if (run.length < (areWords ? minRowsOfWords : minRows)) return undefined
  const least = run.length * minAligned
  const isAligned = [
    run.map(({ gap }) => gap.x1),
    run.map(({ gap }) => gap.x0),
    run.map(({ gap }) => gap.end),
  ].some((edges) => largestCluster(edges, tolerance) >= least)
  const isList = run.every(({ row, gap }) => listMark.test(textBefore(row, gap)))
  return isAligned && !isList ? run.map(({ gap }) => gap) : undefined
}

/** Whether each word is a piece of its own. */
function hasPiecePerWord({ text, joints }: Segment): boolean {
  return text.trim().split(/\s+/).length - 1 <= joints.length
}

function textBefore({ segments }: Row, { segment, at, x0 }: Gap): string {
  const before = segments.filter(({ x1 }) => x1 <= x0).map(({ text }) => text)
  return [...before, segment?.text.slice(0, at) ?? ''].join(' ').trim()
}

function cut(segment: Segment, offsets: ReadonlySet<number>): Segment[] {
  const joints = segment.joints.filter(({ at }) => offsets.has(at))
  if (joints.length === 0) return [segment]
  const starts = [{ at: 0, x: segment.x0 }, ...joints]
  return starts.map((start, index) => {
    const next = joints[index]
    const end = next?.at ?? segment.text.length
    return {
      ...segment,
      text: segment.text.slice(start.at, end).trim(),
      x0: start.x,
      x1: next?.end ?? segment.x1,
      joints: segment.joints
        .filter(({ at }) => at > start.at && at < end)
        .map((joint) => ({ ...joint, at: joint.at - start.at })),
    }
  })
}
