import type { Selectable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { PreferencesTable } from './table.js'

type PreferenceRow = Selectable<PreferencesTable>

/** The value of a preference as JSON; undefined if it is not set. */
export async function findValue(db: Db, ownerId: string, key: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('preferences')
    .select('value')
    .where('owner_id', '=', ownerId)
    .where('key', '=', key)
    .executeTakeFirst()
  return row?.value
}

/** The number of preferences of an owner besides one; others who count them wait until the transaction ends. */
export async function countOthers(tx: Tx, ownerId: string, key: string): Promise<number> {
  await dialectOf(tx).holdName(tx, `preferences:${ownerId}`)
  const { others } = await tx
    .selectFrom('preferences')
    .select(({ fn }) => fn.countAll<number>().as('others'))
    .where('owner_id', '=', ownerId)
    .where('key', '!=', key)
    .executeTakeFirstOrThrow()
  return Number(others)
}

export async function putPreference(tx: Tx, row: PreferenceRow): Promise<void> {
  const { value, updated_at } = row
  await tx
    .insertInto('preferences')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['owner_id', 'key']).doUpdateSet({ value, updated_at }),
    )
    .execute()
}

export async function deletePreference(tx: Tx, ownerId: string, key: string): Promise<void> {
  await tx
    .deleteFrom('preferences')
    .where('owner_id', '=', ownerId)
    .where('key', '=', key)
    .execute()
}

export async function deletePreferencesOf(tx: Tx, ownerId: string): Promise<void> {
  await tx.deleteFrom('preferences').where('owner_id', '=', ownerId).execute()
}
