import type { Insertable, Selectable } from 'kysely'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { BotVersionsTable } from './table.js'

/** A version without its `content`. */
export type VersionRow = Omit<Selectable<BotVersionsTable>, 'content'>

const columns = [
  'id',
  'bot_id',
  'workspace_id',
  'name',
  'description',
  'bundle',
  'code_size',
  'created_at',
] as const

export async function insertVersion(tx: Tx, row: Insertable<BotVersionsTable>): Promise<void> {
  await tx.insertInto('bot_versions').values(row).execute()
}

/** The versions of a bot, the newest first. */
export async function listVersions(
  db: Db,
  workspaceId: string,
  botId: string,
): Promise<VersionRow[]> {
  return await db
    .selectFrom('bot_versions')
    .select(columns)
    .where('bot_id', '=', botId)
    .where('workspace_id', '=', workspaceId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

export async function countVersions(tx: Tx, botId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('bot_versions')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('bot_id', '=', botId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** A version of a bot with its `content`. */
export async function findVersion(
  db: Db,
  { workspaceId, botId }: { workspaceId: string; botId: string },
  id: string,
): Promise<Selectable<BotVersionsTable> | undefined> {
  return await db
    .selectFrom('bot_versions')
    .selectAll()
    .where('id', '=', id)
    .where('bot_id', '=', botId)
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst()
}

/** A version of any bot, for a signed address. */
export async function findAddressedVersion(db: Db, id: string): Promise<VersionRow | undefined> {
  return await db.selectFrom('bot_versions').select(columns).where('id', '=', id).executeTakeFirst()
}

/** @returns whether there was such a version */
export async function deleteVersion(
  tx: Tx,
  { workspaceId, botId }: { workspaceId: string; botId: string },
  id: string,
): Promise<boolean> {
  const result = await tx
    .deleteFrom('bot_versions')
    .where('id', '=', id)
    .where('bot_id', '=', botId)
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

/** The bundles of the versions of a bot. */
export async function listBundles(tx: Tx, botId: string): Promise<string[]> {
  const query = tx.selectFrom('bot_versions').select('bundle').distinct()
  const rows = await query.where('bot_id', '=', botId).execute()
  return rows.map(({ bundle }) => bundle)
}

/** Moves the versions of a bot to another workspace. @returns their ids */
export async function moveVersions(tx: Tx, botId: string, to: string): Promise<string[]> {
  const rows = await tx
    .updateTable('bot_versions')
    .set({ workspace_id: to })
    .where('bot_id', '=', botId)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Deletes the versions of a deleted bot, at most `limit`. @returns their ids */
export async function deleteSomeOf(tx: Tx, botId: string, limit: number): Promise<string[]> {
  const rows = await tx
    .deleteFrom('bot_versions')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('bot_versions').select('id').where('bot_id', '=', botId).limit(limit),
    )
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}
