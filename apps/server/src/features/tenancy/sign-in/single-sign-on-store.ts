import type { Selectable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { AccountIdentitiesTable, SingleSignOnAttemptsTable } from './table.js'

export type AttemptRow = Selectable<SingleSignOnAttemptsTable>
export type IdentityRow = Selectable<AccountIdentitiesTable>

export async function insertAttempt(tx: Tx, row: AttemptRow): Promise<void> {
  await tx.insertInto('single_sign_on_attempts').values(row).execute()
}

/** Deletes an attempt, so that it works once, and only in the browser that began it. */
export async function takeAttempt(
  tx: Tx,
  state: string,
  browser: string,
  now: string,
): Promise<AttemptRow | undefined> {
  return await tx
    .deleteFrom('single_sign_on_attempts')
    .where('state', '=', state)
    .where('browser', '=', browser)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()
}

export async function deleteExpiredAttempts(tx: Tx, now: string): Promise<number> {
  const result = await tx
    .deleteFrom('single_sign_on_attempts')
    .where('expires_at', '<=', now)
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

/**
 * An identity, which nobody removes until the transaction ends: a session that it begins comes before its removal, and ends
 * with it. Whoever also locks a password locks the identity first.
 */
export async function lockIdentity(
  tx: Tx,
  issuer: string,
  subject: string,
): Promise<IdentityRow | undefined> {
  const query = tx
    .selectFrom('account_identities')
    .selectAll()
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
  return await dialectOf(tx).lockRows(query).executeTakeFirst()
}

export async function findIdentityOf(
  tx: Tx,
  accountId: string,
  issuer: string,
): Promise<IdentityRow | undefined> {
  return await tx
    .selectFrom('account_identities')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('issuer', '=', issuer)
    .executeTakeFirst()
}

export async function listIdentities(executor: Db | Tx, accountId: string): Promise<IdentityRow[]> {
  return await executor
    .selectFrom('account_identities')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created_at')
    .orderBy('subject')
    .execute()
}

/** @returns false if it belongs to an account already, or the account has another one of the issuer */
export async function insertIdentity(tx: Tx, row: IdentityRow): Promise<boolean> {
  const result = await tx
    .insertInto('account_identities')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** @returns how many there were */
export async function deleteIdentities(tx: Tx, accountId: string): Promise<number> {
  const result = await tx
    .deleteFrom('account_identities')
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
