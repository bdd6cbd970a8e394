import type { Selectable } from 'kysely'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { PasswordResetsTable } from './table.js'

export type ResetRow = Selectable<PasswordResetsTable>

export async function insertReset(tx: Tx, row: ResetRow): Promise<void> {
  await tx.insertInto('password_resets').values(row).execute()
}

/** A link that works at a time; undefined if it is unknown, was used or has expired. */
export async function findReset(db: Db, hash: string, now: string): Promise<ResetRow | undefined> {
  return await db
    .selectFrom('password_resets')
    .selectAll()
    .where('hash', '=', hash)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

/** Deletes a link, so that it works once. @returns undefined as for `findReset` */
export async function takeReset(tx: Tx, hash: string, now: string): Promise<ResetRow | undefined> {
  return await tx
    .deleteFrom('password_resets')
    .where('hash', '=', hash)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()
}

/** Deletes the links that were mailed to an address of an account. */
export async function deleteMailedResetsOf(tx: Tx, accountId: string): Promise<void> {
  await tx
    .deleteFrom('password_resets')
    .where('account_id', '=', accountId)
    .where('mailed_to', 'is not', null)
    .execute()
}

export async function deleteResetsOf(tx: Tx, accountId: string): Promise<void> {
  await tx.deleteFrom('password_resets').where('account_id', '=', accountId).execute()
}

export async function deleteExpiredResets(tx: Tx, now: string): Promise<number> {
  const result = await tx
    .deleteFrom('password_resets')
    .where('expires_at', '<=', now)
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
