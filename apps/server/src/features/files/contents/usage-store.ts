import { sql } from 'kysely'
import type { Tx } from '../../../platform/db/schema.js'

/** Bytes that files use. */
export interface Usage {
  /** Of all files. */
  storage: number
  /** Of the files that are indexed. */
  vector: number
}

/**
 * Adds to what a workspace uses; answers what that makes together. Its row stays locked until the
 * transaction ends, so that no two pass a quota together.
 */
export async function addUsage(tx: Tx, workspaceId: string, change: Usage): Promise<Usage> {
  const row = await tx
    .insertInto('file_usage')
    .values({
      workspace_id: workspaceId,
      storage_bytes: change.storage,
      vector_bytes: change.vector,
    })
    .onConflict((conflict) =>
      conflict.column('workspace_id').doUpdateSet({
        storage_bytes: sql`file_usage.storage_bytes + excluded.storage_bytes`,
        vector_bytes: sql`file_usage.vector_bytes + excluded.vector_bytes`,
      }),
    )
    .returning(['storage_bytes', 'vector_bytes'])
    .executeTakeFirstOrThrow()
  return { storage: row.storage_bytes, vector: row.vector_bytes }
}
