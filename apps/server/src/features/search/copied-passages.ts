import { decodeJson } from '../../platform/db/columns.js'
import type { Db } from '../../schema.js'
import type { FilesIndexing, PassagesOf } from '../files/index.js'
import { type ContextOptions, toIndexFields } from './chunk/index-fields.js'
import type { IngestedPassage } from './ingest-task.js'
import { listGeneration } from './store.js'

/**
 * The passages of another file with the same content, which then needs no reading. Undefined when
 * they are not found any more: their file was replaced or deleted meanwhile.
 */
export async function readCopied(
  { db, indexing }: { db: Db; indexing: FilesIndexing },
  from: PassagesOf,
  context: ContextOptions | undefined,
): Promise<IngestedPassage[] | undefined> {
  const rows = await listGeneration(db, from.botId, from.fileId, from.generation)
  // Asked after reading: what is still found now was complete then.
  if (rows.length === 0 || !(await indexing.isFound(from))) return undefined
  return rows.map((row) => {
    const passage = {
      type: 'chunk' as const,
      content: row.content,
      position: row.position,
      subtype: row.subtype,
      headings: decodeJson<string[]>(row.headings),
      ownHeadings: decodeJson<string[]>(row.own_headings),
      start: row.start_offset,
      end: row.end_offset,
      ...(row.page_number !== null && { pageNumber: row.page_number }),
    }
    return { ...passage, fields: toIndexFields(passage, context) }
  })
}
