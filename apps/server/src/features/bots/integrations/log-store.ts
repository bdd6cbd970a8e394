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

export async function insertLog(tx: Tx, row: Insertable<IntegrationLogsTable>): Promise<void> {
  await tx.insertInto('integration_logs').values(row).execute()
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
