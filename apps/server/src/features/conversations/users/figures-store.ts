import { sql } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import type { Db } from '../../../platform/db/schema.js'
import type { Period } from '../../../platform/db/time-ranges.js'

/** Counts the users of a bot that were created in a period, without the bot itself. */
export async function countCreated(
  db: Db,
  botId: string,
  { since, before }: Period,
): Promise<number> {
  const { count } = await db
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('bot_id', '=', botId)
    .where('created_at', '>=', since)
    .where('created_at', '<', before)
    .where('id', '<>', botId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Counts those of the given users of a bot that were created before an ISO 8601 time. */
export async function countCreatedBefore(
  db: Db,
  botId: string,
  ids: readonly string[],
  before: string,
): Promise<number> {
  const { count } = await db
    .selectFrom(dialectOf(db).jsonTexts(sql<string>`${JSON.stringify(ids)}`))
    .crossJoin('users')
    .whereRef('users.id', '=', 'given.value')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('users.bot_id', '=', botId)
    .where('users.created_at', '<', before)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Time of the first creation of a user of a bot in a period, without the bot itself. */
export async function findFirstCreation(
  db: Db,
  botId: string,
  { since, before }: Period,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('users')
    .select('created_at')
    .where('bot_id', '=', botId)
    .where('created_at', '>=', since)
    .where('created_at', '<', before)
    .where('id', '<>', botId)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return row?.created_at
}
