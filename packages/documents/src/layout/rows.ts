import type { Segment } from './segments.js'

/** Baselines that differ less are one line, in sizes of the font. */
const DRIFT = 0.35

/** Segments by their baselines, from the top down. */
export function toRows(segments: readonly Segment[]): Segment[][] {
  const rows: Segment[][] = []
  let baseline = Number.NEGATIVE_INFINITY
  for (const segment of [...segments].sort((a, b) => a.y - b.y)) {
    const row = rows.at(-1)
    if (row !== undefined && segment.y - baseline <= segment.size * DRIFT) row.push(segment)
    else {
      rows.push([segment])
      baseline = segment.y
    }
  }
  return rows
}
