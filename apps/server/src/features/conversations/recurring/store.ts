import { type Selectable, sql, type Updateable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { RecurringEventsTable } from './table.js'

export type RecurringRow = Selectable<RecurringEventsTable>

export async function listRecurring(executor: Db | Tx, botId: string): Promise<RecurringRow[]> {
  return await executor
    .selectFrom('recurring_events')
    .selectAll()
    .where('bot_id', '=', botId)
    .execute()
}

/** The recurring event of a name, locked until the transaction ends. */
export async function lockRecurring(
  tx: Tx,
  botId: string,
  name: string,
): Promise<RecurringRow | undefined> {
  const query = tx
    .selectFrom('recurring_events')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('name', '=', name)
  return await dialectOf(tx).lockRows(query).executeTakeFirst()
}

/** Stores a recurring event, replacing one with the same name. */
export async function upsertRecurring(tx: Tx, row: RecurringRow): Promise<void> {
  const { bot_id: _, name: __, ...changes } = row
  await tx
    .insertInto('recurring_events')
    .values(row)
    .onConflict((conflict) => conflict.columns(['bot_id', 'name']).doUpdateSet(changes))
    .execute()
}

export async function patchRecurring(
  tx: Tx,
  botId: string,
  name: string,
  patch: Updateable<RecurringEventsTable>,
): Promise<void> {
  await tx
    .updateTable('recurring_events')
    .set(patch)
    .where('bot_id', '=', botId)
    .where('name', '=', name)
    .execute()
}

/** Counts a delivery that failed. */
export async function countFailure(
  tx: Tx,
  botId: string,
  name: string,
  reason: string,
): Promise<void> {
  await tx
    .updateTable('recurring_events')
    .set(({ eb }) => ({
      failed_attempts: eb('failed_attempts', '+', sql.lit(1)),
      last_failure_reason: reason,
    }))
    .where('bot_id', '=', botId)
    .where('name', '=', name)
    .execute()
}

export async function deleteRecurring(tx: Tx, botId: string, name: string): Promise<void> {
  await tx
    .deleteFrom('recurring_events')
    .where('bot_id', '=', botId)
    .where('name', '=', name)
    .execute()
}

/** Removes all recurring events of a bot; a bot has few. */
export async function deleteAllRecurring(tx: Tx, botId: string): Promise<void> {
  await tx.deleteFrom('recurring_events').where('bot_id', '=', botId).execute()
}
