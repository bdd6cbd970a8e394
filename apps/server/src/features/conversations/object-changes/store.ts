import { type SqlBool, sql } from 'kysely'
import type { NeededSubjects } from '../../../domain/deliveries.js'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type PageRange, pageOf } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { ObjectChangesTable } from './table.js'

export type ChangeRow = ObjectChangesTable

export async function insertChange(tx: Tx, row: ChangeRow): Promise<void> {
  await tx.insertInto('object_changes').values(row).execute()
}

export async function listChanges(
  executor: Db | Tx,
  botId: string,
  ids: readonly string[],
): Promise<ChangeRow[]> {
  if (ids.length === 0) return []
  return await executor
    .selectFrom('object_changes')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('id', 'in', [...ids])
    .execute()
}

/** @returns how many of a bot were deleted, at most `limit` */
export async function deleteSomeOf(tx: Tx, botId: string, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('object_changes')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('object_changes').select('id').where('bot_id', '=', botId).limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

/**
 * @param needed changes that stay
 * @returns how many from before an ISO 8601 time were deleted, at most `limit`
 */
export async function deleteOld(
  tx: Tx,
  before: string,
  limit: number,
  needed: NeededSubjects,
): Promise<number> {
  const result = await tx
    .deleteFrom('object_changes')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('object_changes')
        .leftJoin(needed, 'needed.subject_id', 'object_changes.id')
        .select('id')
        .where('needed.subject_id', 'is', null)
        .where('created_at', '<', before)
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

/** Changes of an object in a range, and one more. */
export async function listChangesIn(
  db: Db,
  { botId, objectId }: { botId: string; objectId: string },
  range: PageRange<'created_at'>,
): Promise<ChangeRow[]> {
  const query = db
    .selectFrom('object_changes')
    .selectAll()
    .where('object_id', '=', objectId)
    // As an expression, because SQLite would else read all changes of the bot.
    .where(sql<SqlBool>`(bot_id || '') = ${botId}`)
  return await pageOf(query, range).execute()
}

/** Ids of the changes of some objects. */
export async function listChangeIds(
  db: Db,
  botId: string,
  objectIds: readonly string[],
): Promise<Pick<ChangeRow, 'id' | 'object_id'>[]> {
  return await db
    .selectFrom(dialectOf(db).jsonTexts(sql`${JSON.stringify(objectIds)}`))
    .crossJoin('object_changes')
    .whereRef('object_changes.object_id', '=', 'given.value')
    .where(sql<SqlBool>`(bot_id || '') = ${botId}`)
    .select(['object_changes.id', 'object_changes.object_id'])
    .execute()
}
