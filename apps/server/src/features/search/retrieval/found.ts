import type { FileRow } from '../../files/index.js'
import type { NearbyRow, PassageRow } from '../store.js'
import type { Findings } from './find.js'
import type { RankedPassage } from './ranker.js'

/** Passages of one file that answer a query, with what stands around them. */
export interface Found {
  /** Of the best match. */
  score: number
  /** What each way of looking said of the best match. */
  legs: RankedPassage['legs']
  file: FileRow
  /** In reading order; just one unless matches of a file were brought together. */
  matches: PassageRow[]
  /** The matches and their neighbours in reading order, each once. */
  around: PassageRow[]
}

/** Puts each hit together with its file and its neighbours. */
export function toFound({ hits, nearby, files }: Findings): Found[] {
  const around = groupByHit(nearby)
  const fileById = new Map(files.map((file) => [file.id, file]))
  return hits.flatMap(({ number, score, legs }) => {
    const passages = around.get(number) ?? []
    const match = passages.find((row) => row.number === number)
    const file = fileById.get(match?.file_id ?? '')
    // A file can be deleted between two queries.
    if (match === undefined || file === undefined) return []
    return [{ score, legs, file, matches: [match], around: passages }]
  })
}

function groupByHit(rows: readonly NearbyRow[]): Map<number, PassageRow[]> {
  const groups = new Map<number, PassageRow[]>()
  for (const row of rows) {
    const group = groups.get(row.hit)
    if (group === undefined) groups.set(row.hit, [row])
    else group.push(row)
  }
  return groups
}

/** Brings the matches of each file together, in reading order; files stay sorted by their best match. */
export function byFile(found: readonly Found[]): Found[] {
  const files = new Map<string, Found>()
  for (const each of found) {
    const known = files.get(each.file.id)
    if (known === undefined) {
      files.set(each.file.id, each)
      continue
    }
    files.set(each.file.id, {
      ...known,
      matches: inReadingOrder([...known.matches, ...each.matches]),
      around: inReadingOrder([...known.around, ...each.around]),
    })
  }
  return [...files.values()]
}

function inReadingOrder(passages: readonly PassageRow[]): PassageRow[] {
  const byNumber = new Map(passages.map((passage) => [passage.number, passage]))
  return [...byNumber.values()].sort((a, b) => a.position - b.position)
}
