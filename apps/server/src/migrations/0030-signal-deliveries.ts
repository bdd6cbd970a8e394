import type { Transaction } from 'kysely'
import { isoTime, systemClock } from '../platform/clock.js'
import type { Migration } from '../platform/db/migrate.js'
import { createIds } from '../platform/ids.js'

type Text = Record<string, string | number | null>

/** The columns that this migration reads and writes, as they are now. */
type Tables = {
  chat_webhook_cursors: { conversation_id: string; bot_id: string; sequence: number }
  conversations: { id: string; integration: string }
  installations: { bot_id: string; alias: string; enabled: number; posts_signals: number }
  events: { stream: string; sequence: number; type: string; subject_id: string }
  messages: { id: string; direction: string; payload: string }
  deliveries: Text
  delivery_lines: Text
  jobs: { kind: string }
}

type Old = Transaction<Tables>
type Cursor = Tables['chat_webhook_cursors']

const chat = 'chat'
const atOnce = 500

/**
 * Signals are delivered as everything else is. What waited for the webhook of a chat until now, as a
 * number up to which each conversation had been posted, becomes deliveries.
 */
export const signalDeliveries: Migration = {
  name: '0030-signal-deliveries',
  up: async (db) => {
    const old = db.withTables<Tables>()
    for (const cursor of await listCursors(old)) await enqueue(old, cursor)
    await old.deleteFrom('jobs').where('kind', '=', 'chat.webhook').execute()
    await db.schema.dropTable('chat_webhook_cursors').execute()
    await db.schema.dropIndex('installations_by_signals').execute()
  },
}

/** Conversations of chats that still have a webhook. */
async function listCursors(old: Old): Promise<Cursor[]> {
  return await old
    .selectFrom('chat_webhook_cursors as cursor')
    .innerJoin('conversations', 'conversations.id', 'cursor.conversation_id')
    .innerJoin('installations', 'installations.bot_id', 'cursor.bot_id')
    .select(['cursor.conversation_id', 'cursor.bot_id', 'cursor.sequence'])
    .where('installations.alias', '=', chat)
    .where('installations.enabled', '=', 1)
    .where('installations.posts_signals', '=', 1)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('installations as other')
            .select('other.alias')
            .whereRef('other.bot_id', '=', 'cursor.bot_id')
            .whereRef('other.alias', '=', 'conversations.integration')
            .where('other.alias', '<>', chat),
        ),
      ),
    )
    .execute()
}

async function enqueue(old: Old, cursor: Cursor): Promise<void> {
  const { conversation_id: conversationId, bot_id } = cursor
  const ids = createIds()
  const now = isoTime(systemClock.now())
  const line = `${bot_id}/${chat}/${conversationId}`
  let position = 0
  let { sequence } = cursor
  for (;;) {
    const events = await old
      .selectFrom('events')
      .select(['stream', 'sequence', 'type', 'subject_id'])
      .where('stream', '=', conversationId)
      .where('sequence', '>', sequence)
      .orderBy('sequence')
      .limit(atOnce)
      .execute()
    const last = events.at(-1)
    if (last === undefined) break
    sequence = last.sequence
    const places: string[] = []
    for (const event of events) places.push(...(await placesOf(old, event)))
    if (places.length === 0) continue
    const rows = places.map((subject_id) => {
      position += 1
      return {
        id: ids.next('delivery'),
        bot_id,
        integration: chat,
        kind: 'signal',
        subject_id,
        order_key: line,
        position,
        status: 'pending',
        attempts: 0,
        spent: 0,
        set_aside: 0,
        owner: null,
        last_error: null,
        created_at: now,
        updated_at: now,
        next_attempt_at: position === 1 ? now : null,
      }
    })
    // In parts, because an engine takes only so many parameters.
    for (let at = 0; at < rows.length; at += 50) {
      await old
        .insertInto('deliveries')
        .values(rows.slice(at, at + 50))
        .execute()
    }
  }
  if (position === 0) return
  const row = { order_key: line, bot_id, last_position: position, waiting: position }
  await old.insertInto('delivery_lines').values(row).execute()
}

/** The places of the signals of an event. */
async function placesOf(old: Old, event: Tables['events']): Promise<string[]> {
  const place = `${event.stream}/${event.sequence}`
  if (event.type === 'conversation_deleted') return []
  if (event.type !== 'message_created') return [place]
  const message = await old
    .selectFrom('messages')
    .select(['direction', 'payload'])
    .where('id', '=', event.subject_id)
    .executeTakeFirst()
  if (message?.direction !== 'outgoing') return [place]
  const { metadata }: { metadata?: { streamId?: unknown } } = JSON.parse(message.payload)
  const streamId = metadata?.streamId
  return typeof streamId === 'string' && streamId !== '' ? [`${place}/complete`, place] : [place]
}
