import { prepared } from '../../platform/db/prepared.js'
import type { Tx } from '../../schema.js'

/*
 * A line holds the deliveries of one conversation to one receiver. Only its first one has a time to
 * be sent at; whoever finishes it gives the next one its turn. So a receiver that is gone for a day
 * leaves one row per conversation to look at, not one per message.
 */

/** Name of the line of a conversation, or whatever else the key stands for, to one receiver. */
export function lineOf(botId: string, integration: string, key: string): string {
  return `${botId}/${integration}/${key}`
}

interface Joined {
  last_position: number
  waiting: number
}

const join = prepared<{ order_key: string; bot_id: string }>()((db, p) =>
  db
    .insertInto('delivery_lines')
    .values({ order_key: p('order_key'), bot_id: p('bot_id'), last_position: 1, waiting: 1 })
    .onConflict((conflict) =>
      conflict.column('order_key').doUpdateSet((eb) => ({
        last_position: eb('delivery_lines.last_position', '+', 1),
        waiting: eb('delivery_lines.waiting', '+', 1),
      })),
    )
    .returning(['last_position', 'waiting']),
)

/**
 * Takes the last place of a line, and holds the line until the end of the transaction: places are in
 * the order of the commits, whatever the clocks say.
 * @returns the place, and whether nobody stands before it
 */
export async function joinLine(
  tx: Tx,
  botId: string,
  orderKey: string,
): Promise<{ position: number; isFirst: boolean }> {
  const line: Joined | undefined = await join.first(tx, { order_key: orderKey, bot_id: botId })
  if (line === undefined) throw new Error('A line has a place for everybody.')
  return { position: line.last_position, isFirst: line.waiting === 1 }
}

const leave = prepared<{ order_key: string }>()((db, p) =>
  db
    .updateTable('delivery_lines')
    .set((eb) => ({ waiting: eb('waiting', '-', 1) }))
    .where('order_key', '=', p('order_key'))
    .returning('waiting'),
)

const removeLine = prepared<{ order_key: string }>()((db, p) =>
  db.deleteFrom('delivery_lines').where('order_key', '=', p('order_key')),
)

const callNext = prepared<{ order_key: string; at: string }>()((db, p) =>
  db
    .updateTable('deliveries')
    .set({ next_attempt_at: p('at') })
    .where('id', '=', ({ selectFrom }) =>
      selectFrom('deliveries')
        .select('id')
        .where('order_key', '=', p('order_key'))
        .where('status', '=', 'pending')
        .orderBy('position')
        .limit(1),
    )
    .returning('id'),
)

/**
 * Leaves a line from its head and gives the next one its turn, in the transaction that finishes the
 * delivery.
 * @param at ISO 8601 time from which the next one may be sent
 * @returns the id of the next one
 */
export async function leaveLine(tx: Tx, orderKey: string, at: string): Promise<string | undefined> {
  const line = await leave.first(tx, { order_key: orderKey })
  // The bot was deleted meanwhile, and its lines with it.
  if (line === undefined) return undefined
  if (line.waiting > 0) return (await callNext.first(tx, { order_key: orderKey, at }))?.id
  await removeLine(tx, { order_key: orderKey })
  return undefined
}
