import { decodeJson } from '../../platform/db/columns.js'
import type { Db } from '../../schema.js'
import type { FilesIndexing, PassagesOf } from '../files/index.js'
import type { ContextOptions } from './chunk/index-fields.js'
import type { Passage } from './chunk/passage.js'
import type { IngestedPassage } from './ingest-task.js'
import { type IngestPool, listPassageWords } from './pipeline.js'
import { listGeneration, type PassageRow } from './store.js'

/** Passages that are read at a time: few enough that nobody waits long. */
const readAtOnce = 100

export interface CopyDeps {
  db: Db
  indexing: Pick<FilesIndexing, 'isFound'>
  ingestPool: IngestPool
}

/**
 * The passages of another file with the same content, which then needs no reading. Undefined when
 * they are not found any more: their file was replaced or deleted meanwhile.
 */
export async function readCopied(
  { db, indexing, ingestPool }: CopyDeps,
  from: PassagesOf,
  context: ContextOptions = {},
  signal?: AbortSignal,
): Promise<IngestedPassage[] | undefined> {
  const copied: IngestedPassage[] = []
  for (;;) {
    const rows = await listGeneration(db, from, { from: copied.length, limit: readAtOnce })
    if (rows.length === 0) break
    const passages = rows.map(toPassage)
    const words = await listPassageWords(ingestPool, passages, context, signal)
    for (const [at, each] of words.entries()) {
      const passage = passages[at]
      if (passage !== undefined) copied.push({ ...passage, ...each })
    }
  }
  // Asked after reading: what is still found now was complete then.
  return copied.length > 0 && (await indexing.isFound(from)) ? copied : undefined
}

function toPassage(row: PassageRow): Passage {
  return {
    type: 'chunk',
    content: row.content,
    position: row.position,
    subtype: row.subtype,
    headings: decodeJson<string[]>(row.headings),
    ownHeadings: decodeJson<string[]>(row.own_headings),
    start: row.start_offset,
    end: row.end_offset,
    ...(row.page_number !== null && { pageNumber: row.page_number }),
  }
}
