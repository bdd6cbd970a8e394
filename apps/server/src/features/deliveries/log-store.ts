import { type Expression, type SqlBool, sql } from 'kysely'
import { type Page, type PageRequest, paginate } from '../../platform/db/paginate.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import { eventSubjects } from '../conversations/events/index.js'
import { messageSubjects } from '../conversations/messages/index.js'
import { orderingKeyColumn } from './ordering-store.js'

/** An attempt as a line in the log of its bot. */
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

/** Returns attempts at the deliveries of a bot as lines; `narrow` restricts the columns of a line. */
export async function pageAttempts(
  db: Db,
  botId: string,
  narrow: (db: Db) => readonly Expression<SqlBool>[],
  page: PageRequest<'created_at'>,
): Promise<Page<AttemptLine>> {
  const lines = db
    .selectFrom('delivery_attempts as a')
    .innerJoin('deliveries as d', 'd.id', 'a.delivery_id')
    .leftJoin(eventSubjects(db).as('e'), 'e.id', 'd.subject_id')
    .leftJoin(messageSubjects(db).as('m'), 'm.id', 'd.subject_id')
    .where('a.bot_id', '=', botId)
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
      'a.started_at as created_at',
    ])
  let query = db
    .selectFrom(lines.as('line'))
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
