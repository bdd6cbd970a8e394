import type { Db, Tx } from '../../../platform/db/schema.js'

/** Notes passages whose vectors are to be made. */
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

/** Bots that have passages without vectors, at most `limit`, in order. */
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
