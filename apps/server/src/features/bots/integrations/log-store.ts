import { type Insertable, type Selectable, sql } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { IntegrationLogsTable } from './table.js'

export type LogRow = Selectable<IntegrationLogsTable>

/** Filter of the log of an integration; undefined members match anything. */
export interface LogFilter {
  /** ISO 8601 times, both included. */
  from: string
  until: string | undefined
  level: string | undefined
  userId: string | undefined
  conversationId: string | undefined
  messageContains: string | undefined
}

export async function insertLogs(
  tx: Tx,
  rows: readonly Insertable<IntegrationLogsTable>[],
): Promise<void> {
  await tx.insertInto('integration_logs').values(rows).execute()
}

/** Lines about one integration. */
export async function pageLogs(
  db: Db,
  integrationId: string,
  filter: LogFilter,
  page: PageRequest<'created_at'>,
): Promise<Page<LogRow>> {
  let query = db
    .selectFrom('integration_logs')
    .selectAll()
    .where('integration_id', '=', integrationId)
    .where('created_at', '>=', filter.from)
  const { until, level, userId, conversationId, messageContains } = filter
  if (until !== undefined) query = query.where('created_at', '<=', until)
  if (level !== undefined) query = query.where(sql.ref('level'), '=', level)
  if (userId !== undefined) query = query.where('user_id', '=', userId)
  if (conversationId !== undefined) query = query.where('conversation_id', '=', conversationId)
  if (messageContains !== undefined) {
    query = query.where(({ ref }) => dialectOf(db).contains(ref('message'), messageContains))
  }
  return await paginate(query, page)
}

/** @returns how many lines were deleted, at most `limit` */
export async function deleteSomeLogs(
  tx: Tx,
  which: { before: string } | { integrationId: string },
  limit: number,
): Promise<number> {
  const result = await tx
    .deleteFrom('integration_logs')
    .where('id', 'in', ({ selectFrom }) => {
      const ids = selectFrom('integration_logs').select('id').limit(limit)
      return 'before' in which
        ? ids.where('created_at', '<', which.before)
        : ids.where('integration_id', '=', which.integrationId)
    })
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

/** The newest error about an integration in a bot. */
export type LastError = Pick<LogRow, 'created_at' | 'message'>

/** Errors of a bot among which that of one integration is looked for. */
const maxScanned = 1000

/** The newest error about an integration in each of some bots, by the id of the bot. */
export async function listLastErrors(
  db: Db,
  integrationId: string,
  botIds: readonly string[],
): Promise<Map<string, LastError>> {
  const given = dialectOf(db).jsonTexts(sql`${JSON.stringify(botIds)}`)
  const { rows } = await sql<{ bot_id: string; id: string | null }>`
    select given.value as bot_id, (
      select newest.id from (
        select l.id, l.integration_id, l.created_at from integration_logs as l
        where l.bot_id = given.value and l.level = 'error'
        order by l.created_at desc, l.id desc limit ${maxScanned}) as newest
      where newest.integration_id = ${integrationId}
      order by newest.created_at desc, newest.id desc limit 1) as id
    from ${given}`.execute(db)
  const ids = rows.flatMap(({ id }) => id ?? [])
  if (ids.length === 0) return new Map()
  const lines = await db
    .selectFrom('integration_logs')
    .select(['bot_id', 'created_at', 'message'])
    .where('id', 'in', ids)
    .execute()
  return new Map(lines.map(({ bot_id, ...line }) => [bot_id, line]))
}
