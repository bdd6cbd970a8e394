import type { Insertable } from 'kysely'
import type { Db, Schema, Tx } from '../../../platform/db/schema.js'

/** Adds to the count of a name on a day. */
export async function addCount(tx: Tx, row: Insertable<Schema['analytics']>): Promise<void> {
  await tx
    .insertInto('analytics')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['bot_id', 'day', 'name']).doUpdateSet((eb) => ({
        count: eb('analytics.count', '+', eb.ref('excluded.count')),
      })),
    )
    .execute()
}

/** Names that are shown of one day: those with the highest counts. */
const maxNames = 200

/** The counts of a bot by day and name, from the first day to the last one. */
export async function sumCounts(
  db: Db,
  botId: string,
  first: string,
  last: string,
): Promise<Map<string, Record<string, number>>> {
  const ranked = db
    .selectFrom('analytics')
    .select(({ fn }) => [
      'day',
      'name',
      'count',
      fn
        .agg<number>('row_number')
        .over((over) => over.partitionBy('day').orderBy('count', 'desc').orderBy('name'))
        .as('position'),
    ])
    .where('bot_id', '=', botId)
    .where('day', '>=', first)
    .where('day', '<=', last)
  const rows = await db
    .selectFrom(ranked.as('ranked'))
    .select(['day', 'name', 'count'])
    .where('position', '<=', maxNames)
    .execute()
  const days = new Map<string, [string, number][]>()
  for (const { day, name, count } of rows) {
    const entries = days.get(day) ?? []
    entries.push([name, Number(count)])
    days.set(day, entries)
  }
  return new Map([...days].map(([day, entries]) => [day, Object.fromEntries(entries)]))
}

/** Stores an observation, replacing one with the same id. */
export async function upsertObservation(
  tx: Tx,
  row: Insertable<Schema['observations']>,
): Promise<void> {
  const { bot_id: _, id: __, ...changes } = row
  await tx
    .insertInto('observations')
    .values(row)
    .onConflict((conflict) => conflict.columns(['bot_id', 'id']).doUpdateSet(changes))
    .execute()
}

/** @returns how many were deleted, at most `limit` */
export async function deleteOldObservations(
  tx: Tx,
  before: string,
  limit: number,
): Promise<number> {
  const result = await tx
    .deleteFrom('observations')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('bot_id', 'id'),
        'in',
        selectFrom('observations')
          .select(['bot_id', 'id'])
          .where('created_at', '<', before)
          .limit(limit)
          .$asTuple('bot_id', 'id'),
      ),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

/** @returns how many rows of a bot were deleted, about `limit` at most */
export async function deleteSomeOf(tx: Tx, botId: string, limit: number): Promise<number> {
  const counts = await tx.deleteFrom('analytics').where('bot_id', '=', botId).executeTakeFirst()
  const noticed = await tx
    .deleteFrom('observations')
    .where('bot_id', '=', botId)
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('observations').select('id').where('bot_id', '=', botId).limit(limit),
    )
    .executeTakeFirst()
  return Number(counts.numDeletedRows) + Number(noticed.numDeletedRows)
}
