import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { signalReceiver } from '../../domain/deliveries.js'
import { dialectOf } from '../../platform/db/dialect.js'
import type { Db } from '../../platform/db/schema.js'
import { listLastAttempts } from './attempt-store.js'
import { orderingKeyOf, queueOf } from './queue-store.js'
import { type DeliveryRow, isPending } from './store.js'

/** A conversation, with the alias of the installation to which it belongs. */
export interface ConversationOfBot {
  id: string
  bot_id: string
  integration: string
}

/** Outcomes of the deliveries about a conversation. */
export interface DeliveryStates {
  /** Whether one failed and was not replayed. */
  hasFailed: boolean
  /** Whether one waits or is being sent. */
  hasPending: boolean
}

/** The condition of the partial index of failed deliveries; a literal, as {@link isPending} is. */
const isFailed = sql<SqlBool>`status = 'failed'`

/** The queues of the deliveries about a conversation: to its bot, its integration and the webhook of the chat. */
function queuesOf({ id, bot_id: botId, integration }: ConversationOfBot): string[] {
  const receivers = new Set(['', integration, signalReceiver])
  return [...receivers].map((receiver) => queueOf(botId, receiver, id))
}

/** Outcomes of the deliveries about some conversations, by the id of the conversation. */
export async function deliveryStatesOf(
  db: Db,
  conversations: readonly ConversationOfBot[],
): Promise<Map<string, DeliveryStates>> {
  const states = new Map<string, DeliveryStates>()
  if (conversations.length === 0) return states
  const conversationOf = new Map(
    conversations.flatMap((each) => queuesOf(each).map((queue) => [queue, each.id] as const)),
  )
  const rows = await db
    .selectFrom(dialectOf(db).jsonTexts(sql`${JSON.stringify([...conversationOf.keys()])}`))
    .select(({ exists, selectFrom, case: when }) => {
      const ofQueue = (condition: RawBuilder<SqlBool>) =>
        when()
          .when(
            exists(
              selectFrom('deliveries')
                .select('deliveries.id')
                .whereRef('order_key', '=', 'given.value')
                .where(condition),
            ),
          )
          .then(1)
          .else(0)
          .end()
      return [
        'given.value as queue',
        ofQueue(isFailed).as('failed'),
        ofQueue(isPending).as('pending'),
      ]
    })
    .execute()
  for (const { queue, failed, pending } of rows) {
    const id = conversationOf.get(queue) ?? ''
    const known = states.get(id)
    states.set(id, {
      hasFailed: Number(failed) === 1 || known?.hasFailed === true,
      hasPending: Number(pending) === 1 || known?.hasPending === true,
    })
  }
  return states
}

/** Ids of the conversations of several bots of which a delivery failed, at most about `limit`. */
export async function listFailedConversations(
  db: Db,
  botIds: readonly string[],
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom(dialectOf(db).jsonTexts(sql`${JSON.stringify(botIds)}`))
    .crossJoin('deliveries')
    // All queues of a bot: they begin with its id and a slash, which `0` follows.
    .where(sql<SqlBool>`order_key >= given.value || '/' and order_key < given.value || '0'`)
    .where(isFailed)
    .select(({ fn }) => [
      'order_key',
      fn.min('bot_id').as('bot_id'),
      fn.min('integration').as('integration'),
    ])
    .groupBy('order_key')
    .limit(limit)
    .execute()
  return [...new Set(rows.flatMap((row) => orderingKeyOf(row) ?? []))]
}

/** A delivery with the result of its last attempt, if one has ended. */
export interface DeliveryWithResult extends DeliveryRow {
  duration_ms: number | null
  /** HTTP status of the response. */
  response_status: number | null
}

/** The deliveries of some subjects of a bot, oldest first, at most `limit`. */
export async function listDeliveriesAbout(
  db: Db,
  botId: string,
  subjectIds: readonly string[],
  limit: number,
): Promise<DeliveryWithResult[]> {
  if (subjectIds.length === 0) return []
  const rows = await db
    .selectFrom(dialectOf(db).jsonTexts(sql`${JSON.stringify(subjectIds)}`))
    .crossJoin('deliveries')
    .whereRef('deliveries.subject_id', '=', 'given.value')
    // As an expression, because SQLite would else read all deliveries of the bot.
    .where(sql<SqlBool>`(deliveries.bot_id || '') = ${botId}`)
    .selectAll('deliveries')
    .limit(limit)
    .execute()
  const attempts = await listLastAttempts(db, rows)
  return rows
    .map((row) => ({
      ...row,
      duration_ms: attempts.get(row.id)?.duration_ms ?? null,
      response_status: attempts.get(row.id)?.status ?? null,
    }))
    .sort((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)))
}
