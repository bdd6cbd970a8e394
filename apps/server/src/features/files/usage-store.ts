import { sql } from 'kysely'
import { prepared } from '../../platform/db/prepared.js'
import type { Tx } from '../../platform/db/schema.js'

/** Bytes that files use. */
export interface Usage {
  /** Of all files. */
  storage: number
  /** Of the files that are indexed. */
  vector: number
}

const countUsage = prepared<Usage & { workspaceId: string }>()((db, p) =>
  db
    .insertInto('file_usage')
    .values({
      workspace_id: p('workspaceId'),
      storage_bytes: p('storage'),
      vector_bytes: p('vector'),
    })
    .onConflict((conflict) =>
      conflict.column('workspace_id').doUpdateSet({
        storage_bytes: sql`file_usage.storage_bytes + excluded.storage_bytes`,
        vector_bytes: sql`file_usage.vector_bytes + excluded.vector_bytes`,
      }),
    )
    .returning(['storage_bytes as storage', 'vector_bytes as vector']),
)

/**
 * Adds to the usage of a workspace and returns the new total. Its row stays locked until the
 * transaction ends, so that concurrent transactions cannot exceed a quota together.
 */
export async function addUsage(tx: Tx, workspaceId: string, change: Usage): Promise<Usage> {
  const total = await countUsage.first(tx, { workspaceId, ...change })
  if (total === undefined) throw new Error(`The usage of ${workspaceId} was not counted`)
  return total
}

/** Bytes that the files of one bot use, and how many of these are indexed. */
export interface BotUsage extends Usage {
  indexedFiles: number
}

const countBotUsage = prepared<BotUsage & { botId: string }>()((db, p) =>
  db
    .insertInto('bot_file_usage')
    .values({
      bot_id: p('botId'),
      storage_bytes: p('storage'),
      vector_bytes: p('vector'),
      indexed_files: p('indexedFiles'),
    })
    .onConflict((conflict) =>
      conflict.column('bot_id').doUpdateSet({
        storage_bytes: sql`bot_file_usage.storage_bytes + excluded.storage_bytes`,
        vector_bytes: sql`bot_file_usage.vector_bytes + excluded.vector_bytes`,
        indexed_files: sql`bot_file_usage.indexed_files + excluded.indexed_files`,
      }),
    )
    .returning(['storage_bytes as storage', 'vector_bytes as vector']),
)

/** Adds to the usage of a bot and returns the new total. The usage of its workspace is locked, which comes first. */
export async function addBotUsage(tx: Tx, botId: string, change: BotUsage): Promise<Usage> {
  const total = await countBotUsage.first(tx, { botId, ...change })
  if (total === undefined) throw new Error(`The usage of ${botId} was not counted`)
  return { storage: Number(total.storage), vector: Number(total.vector) }
}

/**
 * Moves the files of a bot, whose row is locked, and their usage to another workspace.
 * @returns what was moved, and the new total there
 */
export async function moveFiles(
  tx: Tx,
  botId: string,
  { from, to }: { from: string; to: string },
): Promise<{ moved: Usage; total: Usage }> {
  await tx.updateTable('files').set({ workspace_id: to }).where('bot_id', '=', botId).execute()
  // Others lock files before usage: until now, they may have changed what their files count.
  for (const workspaceId of [from, to].sort()) {
    await addUsage(tx, workspaceId, { storage: 0, vector: 0 })
  }
  const sums = await tx
    .selectFrom('files')
    .select(({ fn }) => [
      fn.sum<number | null>('counted_storage').as('storage'),
      fn.sum<number | null>('counted_vector').as('vector'),
    ])
    .where('bot_id', '=', botId)
    .executeTakeFirstOrThrow()
  const moved = { storage: Number(sums.storage ?? 0), vector: Number(sums.vector ?? 0) }
  await addUsage(tx, from, { storage: -moved.storage, vector: -moved.vector })
  return { moved, total: await addUsage(tx, to, moved) }
}

const selectUsageLocked = prepared<{ workspaceId: string }>()((db, p, dialect) =>
  dialect.lockRows(
    db.selectFrom('file_usage').select('workspace_id').where('workspace_id', '=', p('workspaceId')),
  ),
)

/** Locks the usage of a workspace, if it has any. */
export async function lockUsage(tx: Tx, workspaceId: string): Promise<void> {
  await selectUsageLocked(tx, { workspaceId })
}

/** Deletes the usage of workspaces and bots without files, also of those that were deleted: no row counts as none. */
export async function deleteEmptyUsage(tx: Tx): Promise<void> {
  for (const table of ['file_usage', 'bot_file_usage'] as const) {
    await tx
      .deleteFrom(table)
      .where('storage_bytes', '=', 0)
      .where('vector_bytes', '=', 0)
      .execute()
  }
}
