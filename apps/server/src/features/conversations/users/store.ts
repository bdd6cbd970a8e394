import type { Insertable, Selectable, Updateable } from 'kysely'
import { prepared } from '../../../platform/db/prepared.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { UsersTable } from './table.js'

export type UserRow = Selectable<UsersTable>

/** Members of a user that others are shown. */
export type ProfilePatch = Pick<Updateable<UsersTable>, 'name' | 'picture_url' | 'profile'>

export async function insertUser(tx: Tx, row: Insertable<UsersTable>): Promise<void> {
  await tx.insertInto('users').values(row).execute()
}

/** Inserts a user, or patches the one who has its foreign id already; answers what is stored. */
export async function upsertUser(
  tx: Tx,
  row: Insertable<UsersTable>,
  patch: ProfilePatch,
): Promise<UserRow> {
  return await tx
    .insertInto('users')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['bot_id', 'foreign_id'])
        .doUpdateSet({ ...patch, updated_at: row.updated_at }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

const selectUser = prepared<{ botId: string; id: string }>()((db, parameter) =>
  db
    .selectFrom('users')
    .selectAll()
    .where('bot_id', '=', parameter('botId'))
    // Nobody has the bot's own user by a key.
    .whereRef('id', '<>', 'bot_id')
    .where(({ or, eb }) =>
      or([eb('foreign_id', '=', parameter('id')), eb('id', '=', parameter('id'))]),
    ),
)

/** The user with this foreign or native id, but not the bot itself. No foreign id is the native id of another user. */
export async function findUser(
  executor: Db | Tx,
  botId: string,
  id: string,
): Promise<UserRow | undefined> {
  return await selectUser.first(executor, { botId, id })
}

export async function patchUser(
  tx: Tx,
  botId: string,
  id: string,
  patch: Updateable<UsersTable>,
): Promise<UserRow | undefined> {
  return await tx
    .updateTable('users')
    .set(patch)
    .where('bot_id', '=', botId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/** @returns what was deleted; undefined if there was none */
export async function deleteUser(tx: Tx, botId: string, id: string): Promise<UserRow | undefined> {
  return await tx
    .deleteFrom('users')
    .where('bot_id', '=', botId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/** Ids of users as they are shown, for those of the given ones that have one of their own. */
export async function listForeignIds(
  executor: Db | Tx,
  botId: string,
  ids: readonly string[],
): Promise<{ id: string; foreign_id: string }[]> {
  if (ids.length === 0) return []
  return await executor
    .selectFrom('users')
    .select(['id', 'foreign_id'])
    .where('bot_id', '=', botId)
    .where('id', 'in', ids)
    .where('foreign_id', 'is not', null)
    .$narrowType<{ foreign_id: string }>()
    .execute()
}

/** @returns how many were deleted, at most `limit` */
export async function deleteSomeUsers(tx: Tx, botId: string, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('users')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('users').select('id').where('bot_id', '=', botId).limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
