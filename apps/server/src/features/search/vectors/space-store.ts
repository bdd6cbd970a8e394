import { sql } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import { prepared } from '../../../platform/db/prepared.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { Space } from './vector-index.js'

/** The space of vectors of a bot, without the model itself. */
export interface SpaceRow extends Space {
  embedder: string
  /** The number of passages from which it was built. */
  passages: number
}

const columns = ['number', 'embedder', 'dimensions', 'passages', 'size', 'revision'] as const

const selectServing = prepared<{ botId: string }>()((db, p) =>
  db
    .selectFrom('semantic_spaces')
    .select(columns)
    .where('bot_id', '=', p('botId'))
    .where('serving', '=', 1),
)

/** The space that searches of a bot use, if it has one yet. */
export async function findServing(db: Db | Tx, botId: string): Promise<SpaceRow | undefined> {
  return await selectServing.first(db, { botId })
}

/** The model of a space; undefined if the space was deleted or has none. */
export async function findModel(db: Db | Tx, space: number): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom('semantic_spaces')
    .select('model')
    .where('number', '=', space)
    .executeTakeFirst()
  return row?.model ?? undefined
}

/** Creates a space that is not used yet, and returns its number, which no other space had before. */
export async function insertSpace(
  tx: Tx,
  space: {
    botId: string
    embedder: string
    dimensions: number
    passages: number
    model: Uint8Array | null
    createdAt: string
  },
): Promise<number> {
  const { number } = await tx
    .insertInto('semantic_spaces')
    .values({
      ...(await nextNumber(tx)),
      bot_id: space.botId,
      embedder: space.embedder,
      dimensions: space.dimensions,
      passages: space.passages,
      size: space.passages,
      model: space.model,
      serving: 0,
      created_at: space.createdAt,
    })
    .returning('number')
    .executeTakeFirstOrThrow()
  return number
}

/**
 * The number of the next space on SQLite, which would give that of a deleted space again: a model or vectors
 * in memory would then serve another bot. PostgreSQL counts by itself.
 */
async function nextNumber(tx: Tx): Promise<{ number?: number }> {
  return await dialectOf(tx).choose({ sqlite: countSpace, postgres: async (_: Tx) => ({}) })(tx)
}

async function countSpace(tx: Tx): Promise<{ number?: number }> {
  const { rows } = await sql<{ number: number }>`
    update last_space set number = number + 1 returning number
  `.execute(tx)
  return rows[0] ?? {}
}

/** Makes searches use a space from now on; returns whether the bot still has it. */
export async function serve(tx: Tx, botId: string, space: number): Promise<boolean> {
  await tx
    .updateTable('semantic_spaces')
    .set({ serving: 0 })
    .where('bot_id', '=', botId)
    .where('serving', '=', 1)
    .execute()
  const { numUpdatedRows } = await tx
    .updateTable('semantic_spaces')
    .set({ serving: 1 })
    .where('bot_id', '=', botId)
    .where('number', '=', space)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Stores the approximate number of passages of a space. */
export async function resize(tx: Tx, botId: string, space: number, size: number): Promise<void> {
  await tx
    .updateTable('semantic_spaces')
    .set({ size })
    .where('bot_id', '=', botId)
    .where('number', '=', space)
    .execute()
}

/** The newest unfinished space of an embedder, from an earlier attempt. */
export async function findBegun(
  db: Db | Tx,
  botId: string,
  embedder: string,
): Promise<SpaceRow | undefined> {
  return await db
    .selectFrom('semantic_spaces')
    .select(columns)
    .where('bot_id', '=', botId)
    .where('serving', '=', 0)
    .where('embedder', '=', embedder)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** The highest passage of a space that is filled in order; -1 if it is empty. */
export async function lastNumber(db: Db | Tx, space: number): Promise<number> {
  const row = await db
    .selectFrom('passage_vectors')
    .select((eb) => eb.fn.max('number').as('last'))
    .where('space', '=', space)
    .executeTakeFirst()
  return Number(row?.last ?? -1)
}

/** At most `limit` bots whose searches use another embedder. */
export async function listOtherwiseServed(
  db: Db | Tx,
  embedder: string,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('semantic_spaces')
    .select('bot_id')
    .where('serving', '=', 1)
    .where('embedder', '!=', embedder)
    .limit(limit)
    .execute()
  return rows.map(({ bot_id }) => bot_id)
}

/** Numbers of the spaces of a bot that no search uses. */
export async function listIdle(db: Db | Tx, botId: string): Promise<number[]> {
  const rows = await db
    .selectFrom('semantic_spaces')
    .select('number')
    .where('bot_id', '=', botId)
    .where('serving', '=', 0)
    .execute()
  return rows.map(({ number }) => number)
}

/** Numbers of all spaces of a bot. */
export async function listSpaces(db: Db | Tx, botId: string): Promise<number[]> {
  const rows = await db
    .selectFrom('semantic_spaces')
    .select('number')
    .where('bot_id', '=', botId)
    .execute()
  return rows.map(({ number }) => number)
}

export async function deleteSpace(tx: Tx, botId: string, space: number): Promise<void> {
  await tx
    .deleteFrom('semantic_spaces')
    .where('bot_id', '=', botId)
    .where('number', '=', space)
    .execute()
}

/** Deletes at most `limit` vectors of a space, and returns their number. */
export async function deleteVectors(tx: Tx, space: number, limit: number): Promise<number> {
  const ofSpace = tx.selectFrom('passage_vectors').select('number').where('space', '=', space)
  const result = await tx
    .deleteFrom('passage_vectors')
    .where('space', '=', space)
    .where('number', 'in', ofSpace.limit(limit))
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

/** Queues passages whose vectors are to be made. */
export async function insertWaiting(
  tx: Tx,
  botId: string,
  numbers: readonly number[],
): Promise<void> {
  if (numbers.length === 0) return
  await tx
    .insertInto('passages_without_vector')
    .values(numbers.map((number) => ({ bot_id: botId, number })))
    .onConflict((conflict) => conflict.columns(['bot_id', 'number']).doNothing())
    .execute()
}

export async function hasWaiting(db: Db | Tx, botId: string): Promise<boolean> {
  return (await findWaiting(db, botId, 1)).length > 0
}

/** Numbers of passages that wait, lowest first, above `after`. */
export async function findWaiting(
  db: Db | Tx,
  botId: string,
  limit: number,
  after = -1,
): Promise<number[]> {
  const rows = await db
    .selectFrom('passages_without_vector')
    .select('number')
    .where('bot_id', '=', botId)
    .where('number', '>', after)
    .orderBy('number')
    .limit(limit)
    .execute()
  return rows.map(({ number }) => number)
}

export async function deleteWaiting(
  tx: Tx,
  botId: string,
  numbers: readonly number[],
): Promise<void> {
  if (numbers.length === 0) return
  await tx
    .deleteFrom('passages_without_vector')
    .where('bot_id', '=', botId)
    .where('number', 'in', numbers)
    .execute()
}

/** At most `limit` bots that have passages without vectors, in order. */
export async function listWaitingBots(db: Db | Tx, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('passages_without_vector')
    .select('bot_id')
    .distinct()
    .orderBy('bot_id')
    .limit(limit)
    .execute()
  return rows.map(({ bot_id }) => bot_id)
}
