import { type Expression, type SqlBool, sql } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import {
  type Page,
  type PageRange,
  type PageRequest,
  pageOf,
  paginate,
} from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { BotLogsTable } from './table.js'

export type LogRow = BotLogsTable
/** A line as it is shown; attempts at deliveries name no message and no event. */
export type ShownLogRow = Omit<LogRow, 'message_id' | 'event_id'> &
  Partial<Pick<LogRow, 'message_id' | 'event_id'>>

/** Filter of the log; undefined members match anything. */
export interface LogFilter {
  /** ISO 8601 times, both included. */
  from: string
  until: string | undefined
  level: string | undefined
  userId: string | undefined
  workflowId: string | undefined
  conversationId: string | undefined
  messageContains: string | undefined
}

/** The conditions of a filter, for a query whose columns have the names of the log. */
export function conditionsOf(db: Db, filter: LogFilter): Expression<SqlBool>[] {
  const { from, until, level, userId, workflowId, conversationId, messageContains } = filter
  const equal = (column: string, value: string | undefined) =>
    value === undefined ? [] : [sql<SqlBool>`${sql.ref(column)} = ${value}`]
  return [
    sql<SqlBool>`created_at >= ${from}`,
    ...(until === undefined ? [] : [sql<SqlBool>`created_at <= ${until}`]),
    ...equal('level', level),
    ...equal('user_id', userId),
    ...equal('workflow_id', workflowId),
    ...equal('conversation_id', conversationId),
    ...(messageContains === undefined
      ? []
      : [dialectOf(db).contains(sql.ref<string>('message'), messageContains)]),
  ]
}

/** Written lines of one bot. */
export async function pageLogs(
  db: Db,
  botId: string,
  filter: LogFilter,
  page: PageRequest<'created_at'>,
): Promise<Page<LogRow>> {
  const query = db
    .selectFrom('bot_logs')
    .selectAll()
    .where('bot_id', '=', botId)
    .where((eb) => eb.and(conditionsOf(db, filter)))
  return await paginate(query, page)
}

/** Written lines about a conversation in a range, and one more. */
export async function listLogsIn(
  db: Db,
  { botId, conversationId }: { botId: string; conversationId: string },
  range: PageRange<'created_at'>,
): Promise<LogRow[]> {
  const query = db
    .selectFrom('bot_logs')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('conversation_id', '=', conversationId)
  return await pageOf(query, range).execute()
}

export async function insertLogs(tx: Tx, rows: readonly LogRow[]): Promise<void> {
  await tx
    .insertInto('bot_logs')
    .values([...rows])
    .execute()
}

/** @returns how many lines of a bot were deleted, at most `limit` */
export async function deleteSomeOfBot(tx: Tx, botId: string, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('bot_logs')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('bot_logs').select('id').where('bot_id', '=', botId).limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

/** @returns how many lines from before an ISO 8601 time were deleted, at most `limit` */
export async function deleteOld(tx: Tx, before: string, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('bot_logs')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('bot_logs').select('id').where('created_at', '<', before).limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
