import type { Passage } from '@botstead/documents'
import { addNameTitle, type ContextOptions, removeNameTitle } from '@botstead/documents/text'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Db } from '../../../platform/db/schema.js'
import type { FilesIndexing, PassagesOf } from '../../files/index.js'
import { listGeneration, type PassageRow } from '../passage-store.js'
import { type IngestPool, listPassageWords } from './ingest.js'
import type { IndexedContent, IngestedPassage } from './ingest-task.js'

/** Passages per read: few enough to keep transactions short. */
const readAtOnce = 100

export interface CopyDeps {
  db: Db
  indexing: Pick<FilesIndexing, 'isFound' | 'readingOf'>
  ingestPool: IngestPool
}

/**
 * The passages of another file with the same content, which then need not be made again. Undefined when
 * they are no longer found: their file was replaced or deleted in the meantime.
 */
export async function readCopied(
  { db, indexing, ingestPool }: CopyDeps,
  from: PassagesOf,
  to: { key: string; context?: ContextOptions | undefined },
  signal?: AbortSignal,
): Promise<IndexedContent | undefined> {
  const { key, context = {} } = to
  const read: Passage[] = []
  for (;;) {
    const rows = await listGeneration(db, from, { from: read.length, limit: readAtOnce })
    if (rows.length === 0) break
    read.push(...rows.map(toPassage))
  }
  const passages = addNameTitle(removeNameTitle(read), key)
  const copied: IngestedPassage[] = []
  while (copied.length < passages.length) {
    const some = passages.slice(copied.length, copied.length + readAtOnce)
    const words = await listPassageWords(ingestPool, some, { key, context }, signal)
    for (const [at, each] of words.entries()) {
      const passage = some[at]
      if (passage !== undefined) copied.push({ ...passage, ...each })
    }
  }
  const reading = await indexing.readingOf(from)
  // Checked after reading: passages that are still found now were complete then.
  const isComplete = copied.length > 0 && (await indexing.isFound(from))
  return isComplete ? { passages: copied, reading } : undefined
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
