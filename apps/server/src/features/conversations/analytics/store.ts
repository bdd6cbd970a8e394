import type { Db, Tx } from '../../../platform/db/schema.js'

/** The stored figures, or ids of counts, of the days of a bot from `first` to `last`. */
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

/** Stores figures of a day, or the id of a count, in place of what was stored. */
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

/** Stores the figures of a day if the id of their count is still stored: no other count or import came after it. */
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
