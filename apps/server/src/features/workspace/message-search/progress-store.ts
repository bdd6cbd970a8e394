import { sql } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import type { Db, Tx } from '../../../platform/db/schema.js'

/** A message to index once more. */
export interface DueMessage {
  number: number
  message_id: string
}

/** Id of the last message that is indexed; empty before the first. */
export async function readProgress(db: Db): Promise<string> {
  const row = await db.selectFrom('message_words_progress').select('last_id').executeTakeFirst()
  return row?.last_id ?? ''
}

/** Locks the progress until the transaction ends, so that no two processes index the same, and returns it. */
export async function lockProgress(tx: Tx): Promise<string> {
  const row = tx.selectFrom('message_words_progress').select('last_id')
  return (await dialectOf(tx).lockRows(row).executeTakeFirst())?.last_id ?? ''
}

export async function writeProgress(tx: Tx, lastId: string): Promise<void> {
  await tx.updateTable('message_words_progress').set({ last_id: lastId }).execute()
}

/** Messages to index once more, those first that wait longest. */
export async function listDue(db: Db, limit: number): Promise<DueMessage[]> {
  return await db
    .selectFrom('message_words_due')
    .selectAll()
    .orderBy('number')
    .limit(limit)
    .execute()
}

export async function deleteDue(tx: Tx, numbers: readonly number[]): Promise<void> {
  if (numbers.length === 0) return
  await tx
    .deleteFrom('message_words_due')
    .where(sql<boolean>`number in (${sql.join(numbers)})`)
    .execute()
}
