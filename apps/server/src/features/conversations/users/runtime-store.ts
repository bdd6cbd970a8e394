import type { Updateable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import { prepared } from '../../../platform/db/prepared.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { carriesAll, carriesNoMore, isFirstTag, type TagMatch } from '../tags/index.js'
import type { UserRow } from './store.js'
import type { UsersTable } from './table.js'

/** What a list of users is narrowed to; undefined for anything. */
export interface UserFilter {
  /** Alias of the installation through which they came. */
  integration: string | undefined
  /** Native id of a conversation in which they take part. */
  conversationId: string | undefined
  tags: Record<string, string>
  rangeColumn: 'created_at' | 'updated_at'
  /** Bounds, inclusive. */
  after: string | undefined
  before: string | undefined
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

/** The user with this native id, kept from other changes until the transaction ends. */
export async function lockUser(tx: Tx, botId: string, id: string): Promise<UserRow | undefined> {
  const query = tx.selectFrom('users').selectAll().where('id', '=', id).where('bot_id', '=', botId)
  return await dialectOf(tx).lockRows(query).executeTakeFirst()
}

/** Makes the user that the bot itself is, unless it is there. */
export async function insertBotUser(tx: Tx, row: UserRow): Promise<void> {
  await tx
    .insertInto('users')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

/** The oldest user of an installation that carries the tags. */
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
    query = query
      .innerJoin('tag_index', 'tag_index.object_id', 'users.id')
      .where(isFirstTag(botId, 'user', first))
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
    query = query
      .innerJoin('tag_index', 'tag_index.object_id', 'users.id')
      .where(isFirstTag(botId, 'user', first))
  }
  if (filter.conversationId !== undefined) {
    query = query
      .innerJoin('participants as member', 'member.user_id', 'users.id')
      .where('member.conversation_id', '=', filter.conversationId)
  }
  if (filter.integration !== undefined) {
    query = query.where('users.integration', '=', filter.integration)
  }
  if (filter.after !== undefined) query = query.where(range, '>=', filter.after)
  if (filter.before !== undefined) query = query.where(range, '<=', filter.before)
  return await paginate(query, page, 'users')
}

/** Changes a user that {@link lockUser} answered. */
export async function patchUserById(
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
