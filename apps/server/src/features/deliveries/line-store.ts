import { sql } from 'kysely'
import { prepared } from '../../platform/db/prepared.js'
import type { Tx } from '../../platform/db/schema.js'
import type { DeliveryRow } from './store.js'

/*
 * A line holds the deliveries of one conversation to one receiver. Only its first one has a time to
 * be sent at; whoever finishes it gives the next one its turn. So a receiver that is gone for a day
 * leaves one row per conversation to look at, not one per message.
 */

/** Name of the line of a conversation, or whatever else the key stands for, to one receiver. */
export function lineOf(botId: string, integration: string, key: string): string {
  return `${botId}/${integration}/${key}`
}

/** The conversation, or whatever else it stands for, that a delivery is in line for. */
export function keyOfLine({
  bot_id: botId,
  integration,
  order_key: line,
}: Pick<DeliveryRow, 'bot_id' | 'integration' | 'order_key'>): string | undefined {
  return line?.slice(lineOf(botId, integration, '').length)
}

/**
 * Sorted by line, the order in which every transaction that holds several lines locks them, so that no
 * two wait for each other. Those of one line stay as they were.
 */
export function inOneOrder<T extends { line: string | null }>(items: readonly T[]): T[] {
  const nameOf = ({ line }: T) => line ?? ''
  return items.toSorted((left, right) => {
    const [one, other] = [nameOf(left), nameOf(right)]
    return one < other ? -1 : Number(one > other)
  })
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
  orderingKey: string,
): Promise<{ position: number; isFirst: boolean }> {
  const line: Joined | undefined = await join.first(tx, { order_key: orderingKey, bot_id: botId })
  if (line === undefined) throw new Error('A line has a place for everybody.')
  return { position: line.last_position, isFirst: line.waiting === 1 }
}

const leave = prepared<{ lines: string }>()((db, p, dialect) =>
  db
    .with('held', (cte) =>
      // In one order, so that two transactions do not wait for each other.
      dialect.lockRows(
        cte
          .selectFrom('delivery_lines')
          .select('order_key')
          .where('order_key', 'in', ({ selectFrom }) =>
            selectFrom(dialect.jsonTexts(p('lines'))).select('given.value'),
          )
          .orderBy('order_key'),
      ),
    )
    .updateTable('delivery_lines')
    .set((eb) => ({ waiting: eb('waiting', '-', 1) }))
    .where('order_key', 'in', ({ selectFrom }) => selectFrom('held').select('order_key'))
    .returning(['order_key', 'waiting']),
)

const remove = prepared<{ lines: string }>()((db, p, dialect) =>
  db
    .deleteFrom('delivery_lines')
    .where('order_key', 'in', ({ selectFrom }) =>
      selectFrom(dialect.jsonTexts(p('lines'))).select('given.value'),
    ),
)

const callNext = prepared<{ lines: string; at: string; owner: string | null; begun: number }>()(
  (db, p, dialect) =>
    db
      .updateTable('deliveries')
      .set((eb) => ({
        next_attempt_at: p('at'),
        owner: p('owner'),
        attempts: eb('attempts', '+', p('begun')),
      }))
      .where('id', 'in', ({ selectFrom }) =>
        selectFrom(dialect.jsonTexts(p('lines'))).select((eb) =>
          eb
            .selectFrom('deliveries as first')
            .select('first.id')
            .whereRef('first.order_key', '=', 'given.value')
            .where(sql<boolean>`first.status = 'pending'`)
            .orderBy('first.position')
            .limit(1)
            .as('id'),
        ),
      )
      .returningAll(),
)

/** Who sends the next of a line at once, and until when it is theirs. */
export interface NextClaim {
  owner: string
  /** ISO 8601 time. */
  leaseUntil: string
}

/**
 * Leaves lines from their heads, each once, in the transaction that finishes those deliveries.
 * @returns the lines in which somebody waits, whose next are to be called
 */
export async function leaveLines(tx: Tx, orderKeys: readonly string[]): Promise<string[]> {
  if (orderKeys.length === 0) return []
  // A line whose bot was deleted meanwhile is gone too.
  const left = await leave(tx, { lines: JSON.stringify(orderKeys) })
  const keysOf = (rows: typeof left) => rows.map(({ order_key }) => order_key)
  const empty = keysOf(left.filter(({ waiting }) => waiting <= 0))
  if (empty.length > 0) await remove(tx, { lines: JSON.stringify(empty) })
  return keysOf(left.filter(({ waiting }) => waiting > 0))
}

/**
 * Gives those their turn that stand first in lines that somebody has just left.
 * @param at ISO 8601 time from which they may be sent
 */
export async function callFirst(tx: Tx, orderKeys: readonly string[], at: string): Promise<void> {
  if (orderKeys.length === 0) return
  await callNext(tx, { lines: JSON.stringify(orderKeys), at, owner: null, begun: 0 })
}

/** The same, but claims them; answers what was claimed. */
export async function claimNext(
  tx: Tx,
  orderKeys: readonly string[],
  { owner, leaseUntil }: NextClaim,
): Promise<DeliveryRow[]> {
  if (orderKeys.length === 0) return []
  return await callNext(tx, { lines: JSON.stringify(orderKeys), at: leaseUntil, owner, begun: 1 })
}
