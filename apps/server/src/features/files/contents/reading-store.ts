import { prepared } from '../../../platform/db/prepared.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { ReadingRow } from '../table.js'

/** Stores the last reading of a file in place of the one before. */
export async function putReading(tx: Tx, row: ReadingRow): Promise<void> {
  const { generation, reading } = row
  await tx
    .insertInto('file_readings')
    .values(row)
    .onConflict((conflict) => conflict.column('file_id').doUpdateSet({ generation, reading }))
    .execute()
}

const deleteOne = prepared<{ botId: string; fileId: string }>()((db, p) =>
  db
    .deleteFrom('file_readings')
    .where('bot_id', '=', p('botId'))
    .where('file_id', '=', p('fileId')),
)

export async function deleteReading(tx: Tx, botId: string, fileId: string): Promise<void> {
  await deleteOne(tx, { botId, fileId })
}

/** Deletes at most `limit` readings of a bot, and returns their number. */
export async function deleteReadingsOfBot(tx: Tx, botId: string, limit: number): Promise<number> {
  const doomed = tx
    .selectFrom('file_readings')
    .select('file_id')
    .where('bot_id', '=', botId)
    .limit(limit)
  const result = await tx
    .deleteFrom('file_readings')
    .where('file_id', 'in', doomed)
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
