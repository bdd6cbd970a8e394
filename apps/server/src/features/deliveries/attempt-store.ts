import { type Expression, type SqlBool, sql } from 'kysely'
import { encodeJson } from '../../platform/db/columns.js'
import { dialectOf } from '../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../platform/db/paginate.js'
import { prepared } from '../../platform/db/prepared.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import type { CallResult } from '../calls/requests/index.js'
import { eventSubjects } from '../conversations/events/index.js'
import { messageSubjects } from '../conversations/messages/index.js'
import { orderingKeyColumn } from './queue-store.js'
import type { DeliveryRow } from './store.js'
import type { DeliveryAttemptsTable } from './table.js'

export type AttemptRow = DeliveryAttemptsTable

/** Types of the columns of an attempt, for rows of JSON. */
const columnTypes = {
  delivery_id: 'text',
  number: 'integer',
  bot_id: 'text',
  workspace_id: 'text',
  started_at: 'text',
  ended_at: 'text',
  duration_ms: 'integer',
  status: 'integer',
  error: 'text',
  answer: 'text',
  url: 'text',
  signature: 'text',
  response_headers: 'text',
} as const
const columns = Object.keys(columnTypes) as (keyof AttemptRow)[]

const insert = prepared<{ attempts: string }>()((db, p, dialect) =>
  db
    .insertInto('delivery_attempts')
    .columns(columns)
    .expression(({ selectFrom }) =>
      selectFrom(dialect.jsonRecords<AttemptRow>(p('attempts'), columnTypes))
        .select(columns)
        // SQLite's parser needs a condition here to see that no conflict clause follows.
        .where('number', '>', 0),
    ),
)

/** Stores the results of attempts. */
export async function insertAttempts(
  tx: Tx,
  made: readonly { row: DeliveryRow; result: CallResult }[],
  workspaceOf: (tx: Tx, botId: string) => Promise<string | undefined>,
): Promise<void> {
  if (made.length === 0) return
  const attempts: AttemptRow[] = []
  for (const { row, result } of made) {
    attempts.push({
      delivery_id: row.id,
      number: row.attempts,
      bot_id: row.bot_id,
      workspace_id: (await workspaceOf(tx, row.bot_id)) ?? '',
      started_at: result.startedAt,
      ended_at: result.endedAt,
      duration_ms: result.durationMs,
      status: result.status,
      error: result.verdict.result === 'delivered' ? null : result.verdict.error,
      answer: result.responseText,
      url: result.url,
      signature: result.signature,
      response_headers: result.responseHeaders && encodeJson(result.responseHeaders),
    })
  }
  await insert(tx, { attempts: JSON.stringify(attempts) })
}

/** The attempts of a bot that ended at some time or later, at most `limit`, in that order. */
export async function listAttemptsFrom(
  tx: Tx,
  botId: string,
  endedAt: string,
  limit: number,
): Promise<Pick<AttemptRow, 'ended_at'>[]> {
  return await tx
    .selectFrom('delivery_attempts')
    .select('ended_at')
    .where('bot_id', '=', botId)
    .where('ended_at', '>=', endedAt)
    .orderBy('ended_at')
    .limit(limit)
    .execute()
}

/** Moves the attempts of a bot that ended within two times, both included, to the workspace to which the bot was moved. */
export async function moveAttempts(
  tx: Tx,
  botId: string,
  { from, through, to }: { from: string; through: string; to: string },
): Promise<void> {
  await tx
    .updateTable('delivery_attempts')
    .set({ workspace_id: to })
    .where('bot_id', '=', botId)
    .where('ended_at', '>=', from)
    .where('ended_at', '<=', through)
    .where('workspace_id', '!=', to)
    .execute()
}

/** The last attempts at a delivery, the first of them first. */
export async function listRecentAttempts(
  db: Db,
  { bot_id, id }: Pick<DeliveryRow, 'bot_id' | 'id'>,
  limit: number,
): Promise<AttemptRow[]> {
  const rows = await db
    .selectFrom('delivery_attempts')
    .selectAll()
    .where('delivery_id', '=', id)
    .where('bot_id', '=', bot_id)
    .orderBy('number', 'desc')
    .limit(limit)
    .execute()
  return rows.reverse()
}

/** The attempts at a delivery, the first one first. */
export async function listAttempts(
  db: Db,
  botId: string,
  deliveryId: string,
): Promise<AttemptRow[]> {
  return await db
    .selectFrom('delivery_attempts')
    .selectAll()
    .where('delivery_id', '=', deliveryId)
    .where('bot_id', '=', botId)
    .orderBy('number')
    .execute()
}

/** The last attempt at each of some deliveries that has ended, by the id of the delivery. */
export async function listLastAttempts(
  db: Db,
  deliveries: readonly Pick<DeliveryRow, 'id'>[],
): Promise<Map<string, AttemptRow>> {
  const ids = JSON.stringify(deliveries.map(({ id }) => id))
  const rows = await db
    .selectFrom(dialectOf(db).jsonTexts(sql`${ids}`))
    .crossJoin('delivery_attempts')
    .whereRef('delivery_attempts.delivery_id', '=', 'given.value')
    .whereRef('delivery_attempts.number', '=', ({ selectFrom }) =>
      selectFrom('delivery_attempts as other')
        .select(({ fn }) => fn.max('other.number').as('last'))
        .whereRef('other.delivery_id', '=', 'given.value'),
    )
    .selectAll('delivery_attempts')
    .execute()
  return new Map(rows.map((row) => [row.delivery_id, row]))
}

/** An attempt as a line in the log of its bot, at the time of its end: code writes other lines during it. */
interface AttemptLine {
  id: string
  bot_id: string
  level: 'info' | 'warn'
  message: string
  user_id: string | null
  workflow_id: string | null
  conversation_id: string | null
  created_at: string
}

/** Attempts at deliveries as lines of the log of their bots, from the tables `a` and `d`. */
export function attemptLines(db: Db) {
  return db
    .selectFrom('delivery_attempts as a')
    .innerJoin('deliveries as d', 'd.id', 'a.delivery_id')
    .leftJoin(eventSubjects(db).as('e'), 'e.id', 'd.subject_id')
    .leftJoin(messageSubjects(db).as('m'), 'm.id', 'd.subject_id')
    .select((eb) => [
      sql<string>`a.delivery_id || '/' || cast(a.number as text)`.as('id'),
      'a.bot_id',
      sql<AttemptLine['level']>`case when a.error is null then 'info' else 'warn' end`.as('level'),
      sql<string>`case when a.error is null then 'Delivered ' else 'Not delivered: ' end
        || coalesce(e.type, d.kind)
        || case when d.integration = '' then '' else ' to ' || d.integration end
        || ', attempt ' || cast(a.number as text)
        || ', ' || cast(a.duration_ms as text) || ' ms'
        || coalesce(', ' || a.error, '')`.as('message'),
      eb.fn.coalesce('e.user_id', 'm.user_id').as('user_id'),
      'e.workflow_id',
      sql<string | null>`case d.kind when 'signal' then ${orderingKeyColumn}
        else coalesce(e.conversation_id, m.conversation_id) end`.as('conversation_id'),
      'a.ended_at as created_at',
    ])
}

/** Returns attempts at the deliveries of a bot as lines; `narrow` restricts the columns of a line. */
export async function pageAttempts(
  db: Db,
  botId: string,
  narrow: (db: Db) => readonly Expression<SqlBool>[],
  page: PageRequest<'created_at'>,
): Promise<Page<AttemptLine>> {
  let query = db
    .selectFrom(attemptLines(db).where('a.bot_id', '=', botId).as('line'))
    .selectAll()
    .where((eb) => eb.and([...narrow(db)]))
  // Repeated in a form that can use an index.
  if (page.after) query = query.where('created_at', '<=', String(page.after.value))
  return await paginate(query, page)
}

/** The part of the subject that the line of a delivery contains. */
export type SubjectRow = Pick<AttemptLine, 'user_id' | 'workflow_id' | 'conversation_id'> & {
  /** Type of the event; null for a message. */
  type: string | null
}

/** Returns the subject of a delivery; undefined for a signal, and if it was deleted. */
export async function findSubject(
  tx: Tx,
  botId: string,
  subjectId: string,
): Promise<SubjectRow | undefined> {
  const event = await eventSubjects(tx)
    .where('bot_id', '=', botId)
    .where('id', '=', subjectId)
    .executeTakeFirst()
  if (event !== undefined) return event
  const message = await messageSubjects(tx)
    .where('bot_id', '=', botId)
    .where('id', '=', subjectId)
    .executeTakeFirst()
  return message && { ...message, type: null, workflow_id: null }
}
