import type { Selectable } from 'kysely'
import type { Db, Schema, Tx } from '../../../platform/db/schema.js'
import type { UserRow } from './store.js'

export type RetiredIdRow = Selectable<Schema['retired_user_ids']>

/** Stores the ids of a deleted user. */
export async function retireIds(tx: Tx, user: UserRow, keys_revoked_at: string): Promise<void> {
  const { bot_id, id: user_id, foreign_id, integration, banned } = user
  const ids = foreign_id === null ? [user_id] : [user_id, foreign_id]
  await tx
    .insertInto('retired_user_ids')
    .values(ids.map((id) => ({ bot_id, id, user_id, integration, keys_revoked_at, banned })))
    .onConflict((conflict) =>
      conflict
        .columns(['bot_id', 'id'])
        .doUpdateSet({ user_id, integration, keys_revoked_at, banned }),
    )
    .execute()
}

export async function findRetiredId(
  executor: Db | Tx,
  botId: string,
  id: string,
): Promise<RetiredIdRow | undefined> {
  return await executor
    .selectFrom('retired_user_ids')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Bans the ids of a deleted user, or lifts the ban. */
export async function banRetiredIds(
  tx: Tx,
  botId: string,
  userId: string,
  banned: number,
): Promise<void> {
  await tx
    .updateTable('retired_user_ids')
    .set({ banned })
    .where('bot_id', '=', botId)
    .where('user_id', '=', userId)
    .execute()
}

/** @returns how many were deleted, at most `limit` */
export async function deleteSomeRetiredIds(tx: Tx, botId: string, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('retired_user_ids')
    .where('bot_id', '=', botId)
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('retired_user_ids').select('id').where('bot_id', '=', botId).limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
