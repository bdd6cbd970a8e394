import type { Db, Tx } from '../../../platform/db/schema.js'

/** What is stored of days of a bot, from the first to the last one. */
export async function listDays(
  db: Db,
  botId: string,
  first: string,
  last: string,
): Promise<{ day: string; figures: string }[]> {
  return await db
    .selectFrom('bot_days')
    .select(['day', 'figures'])
    .where('bot_id', '=', botId)
    .where('day', '>=', first)
    .where('day', '<=', last)
    .execute()
}

/** Stores something of a day in place of what was there. */
export async function putDay(
  tx: Tx,
  { botId, day, figures }: { botId: string; day: string; figures: string },
): Promise<void> {
  await tx
    .insertInto('bot_days')
    .values({ bot_id: botId, day, figures })
    .onConflict((conflict) => conflict.columns(['bot_id', 'day']).doUpdateSet({ figures }))
    .execute()
}

/** Stores the figures of a day, unless the count with that id is no longer the last one. */
export async function finishDay(
  tx: Tx,
  { botId, day, figures }: { botId: string; day: string; figures: string },
  countId: string,
): Promise<void> {
  await tx
    .updateTable('bot_days')
    .set({ figures })
    .where('bot_id', '=', botId)
    .where('day', '=', day)
    .where('figures', '=', countId)
    .execute()
}

/** @returns how many rows of a bot were deleted, at most `limit` */
export async function deleteSomeOf(tx: Tx, botId: string, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('bot_days')
    .where('bot_id', '=', botId)
    .where('day', 'in', ({ selectFrom }) =>
      selectFrom('bot_days').select('day').where('bot_id', '=', botId).limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
