import type { Insertable, Selectable, Updateable } from 'kysely'
import { encodeBoolean } from '../../../platform/db/columns.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { AccountsTable } from './table.js'

export type AccountRow = Selectable<AccountsTable>

/** @returns whether the row was stored: false if the email is taken */
export async function insertAccount(tx: Tx, row: Insertable<AccountsTable>): Promise<boolean> {
  const result = await tx
    .insertInto('accounts')
    .values(row)
    .onConflict((conflict) => conflict.column('email').doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

export async function findAccount(executor: Db | Tx, id: string): Promise<AccountRow | undefined> {
  return await executor.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst()
}

/** All accounts, oldest first: for the operator. */
export async function listEveryAccount(db: Db): Promise<AccountRow[]> {
  return await db.selectFrom('accounts').selectAll().orderBy('created_at').orderBy('id').execute()
}

export async function listAccounts(db: Db, ids: readonly string[]): Promise<AccountRow[]> {
  if (ids.length === 0) return []
  return await db
    .selectFrom('accounts')
    .selectAll()
    .where('id', 'in', [...new Set(ids)])
    .execute()
}

/** @param email in lower case, as accounts have it */
export async function findAccountByEmail(
  executor: Db | Tx,
  email: string,
): Promise<AccountRow | undefined> {
  return await executor
    .selectFrom('accounts')
    .selectAll()
    .where('email', '=', email)
    .executeTakeFirst()
}

/** The oldest account, which is the operator's. */
export async function findFirstAccount(executor: Db | Tx): Promise<AccountRow | undefined> {
  return await executor
    .selectFrom('accounts')
    .selectAll()
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}

/** Deletes an account, with its rows that refer to it. */
export async function deleteAccount(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('accounts').where('id', '=', id).execute()
}

/** @returns the updated account, or undefined if there is none */
export async function patchAccount(
  tx: Tx,
  id: string,
  patch: Updateable<AccountsTable>,
): Promise<AccountRow | undefined> {
  return await tx
    .updateTable('accounts')
    .set(patch)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/** @returns whether the address was not verified before */
export async function markVerified(tx: Tx, id: string, now: string): Promise<boolean> {
  const result = await tx
    .updateTable('accounts')
    .set({ email_verified: encodeBoolean(true), updated_at: now })
    .where('id', '=', id)
    .where('email_verified', '=', encodeBoolean(false))
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}
