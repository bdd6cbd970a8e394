import type { AliasedExpression, Insertable, Selectable, Updateable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import { prepared } from '../../../platform/db/prepared.js'
import type { Db, Schema, Tx } from '../../../platform/db/schema.js'
import { carriesAll, carriesNoMore, objectsWithTag, type TagMatch } from '../tags/index.js'
import type { UsersTable } from './table.js'

export type UserRow = Selectable<UsersTable>

/** Public members of a user. */
export type ProfilePatch = Pick<Updateable<UsersTable>, 'name' | 'picture_url' | 'profile' | 'data'>

export type RetiredIdRow = Selectable<Schema['retired_user_ids']>

/** Native ids of users, for joins. */
export type Members = AliasedExpression<{ user_id: string }, 'members'>

/** Filter of a list of users; undefined members match anything. */
export interface UserFilter {
  /** Alias of the installation that they came through. */
  integration: string | undefined
  /** They must be among these. */
  members: Members | undefined
  tags: Record<string, string>
  rangeColumn: 'created_at' | 'updated_at'
  /** Bounds of that time, inclusive, as ISO 8601 times. */
  after: string | undefined
  before: string | undefined
}

export async function insertUser(tx: Tx, row: Insertable<UsersTable>): Promise<void> {
  await tx.insertInto('users').values(row).execute()
}

/** Creates the user that represents the bot, unless it exists. */
export async function insertBotUser(tx: Tx, row: UserRow): Promise<void> {
  await tx
    .insertInto('users')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

/** Inserts a user, or patches the user with the same foreign id; returns the stored row. */
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
    // No key names the bot's own user.
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

/** The user with this native id. */
export async function findUserById(
  executor: Db | Tx,
  botId: string,
  id: string,
): Promise<UserRow | undefined> {
  return await executor
    .selectFrom('users')
    .selectAll()
    .where('id', '=', id)
    .where('bot_id', '=', botId)
    .executeTakeFirst()
}

const selectSome = prepared<{ botId: string; ids: string }>()((db, p, dialect) =>
  db
    .selectFrom(dialect.jsonTexts(p('ids')))
    .crossJoin('users')
    .whereRef('users.id', '=', 'given.value')
    .selectAll('users')
    .where('bot_id', '=', p('botId')),
)

/** The users with these native ids, in any order. */
export async function findUsersById(
  executor: Db | Tx,
  botId: string,
  ids: readonly string[],
): Promise<UserRow[]> {
  if (ids.length === 0) return []
  return await selectSome(executor, { botId, ids: JSON.stringify([...new Set(ids)]) })
}

/** The user with this native id, locked until the transaction ends. */
export async function lockUser(tx: Tx, botId: string, id: string): Promise<UserRow | undefined> {
  const query = tx.selectFrom('users').selectAll().where('id', '=', id).where('bot_id', '=', botId)
  return await dialectOf(tx).lockRows(query).executeTakeFirst()
}

/** The oldest user of an installation that has the tags. */
export async function matchUser(
  executor: Db | Tx,
  botId: string,
  integration: string,
  match: TagMatch,
): Promise<UserRow | undefined> {
  const [first, ...others] = match.tags
  let query = executor
    .selectFrom('users')
    .selectAll('users')
    .where('users.integration', '=', integration)
    .where('users.bot_id', '=', botId)
    .whereRef('users.id', '<>', 'users.bot_id')
    .where(({ ref }) => carriesAll(ref('users.id'), others))
    .where(({ ref }) => carriesNoMore(ref('users.id'), match))
    .orderBy('users.created_at')
    .orderBy('users.id')
    .limit(1)
  if (first !== undefined) {
    query = query.innerJoin(
      objectsWithTag(executor, botId, 'user', first),
      'tagged.object_id',
      'users.id',
    )
  }
  return await query.executeTakeFirst()
}

export async function pageUsers(
  db: Db,
  botId: string,
  filter: UserFilter,
  page: PageRequest<'created_at' | 'updated_at'>,
): Promise<Page<UserRow>> {
  const [first, ...others] = Object.entries(filter.tags)
  const range = `users.${filter.rangeColumn}` as const
  let query = db
    .selectFrom('users')
    .selectAll('users')
    .where('users.bot_id', '=', botId)
    .whereRef('users.id', '<>', 'users.bot_id')
    .where(({ ref }) => carriesAll(ref('users.id'), others))
  if (first !== undefined) {
    query = query.innerJoin(
      objectsWithTag(db, botId, 'user', first),
      'tagged.object_id',
      'users.id',
    )
  }
  if (filter.members !== undefined) {
    query = query.innerJoin(filter.members, 'members.user_id', 'users.id')
  }
  if (filter.integration !== undefined) {
    query = query.where('users.integration', '=', filter.integration)
  }
  if (filter.after !== undefined) query = query.where(range, '>=', filter.after)
  if (filter.before !== undefined) query = query.where(range, '<=', filter.before)
  return await paginate(query, page, 'users')
}

/** The given users of a bot, including the bot's own user. */
export async function pageMembers(
  db: Db,
  botId: string,
  members: Members,
  page: PageRequest<'created_at'>,
): Promise<Page<UserRow>> {
  // SQLite begins with the members: in the order of the page, it would read all users of the bot.
  const query = db
    .selectFrom(members)
    .crossJoin('users')
    .selectAll('users')
    .whereRef('users.id', '=', 'members.user_id')
    .where('users.bot_id', '=', botId)
  return await paginate(query, page, 'users')
}

/** The user with this native id, if it is among the given ones. */
export async function findMember(
  db: Db,
  botId: string,
  members: Members,
  id: string,
): Promise<UserRow | undefined> {
  return await db
    .selectFrom('users')
    .innerJoin(members, 'members.user_id', 'users.id')
    .selectAll('users')
    .where('users.id', '=', id)
    .where('users.bot_id', '=', botId)
    .executeTakeFirst()
}

/** Foreign ids of the given users that have one. */
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

/** Changes a user that {@link lockUser} returned. */
export async function patchLockedUser(
  tx: Tx,
  botId: string,
  id: string,
  patch: Updateable<UsersTable>,
): Promise<void> {
  await tx
    .updateTable('users')
    .set(patch)
    .where('id', '=', id)
    .where('bot_id', '=', botId)
    .execute()
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

/** Stores the ids of a deleted user, with the revocation and the ban of its keys. */
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
