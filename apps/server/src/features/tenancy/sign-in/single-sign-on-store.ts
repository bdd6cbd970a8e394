import type { Selectable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { BegunSignIns } from './begun.js'
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

/** The sign-ins from a network address whose person is at the provider. */
export async function countAttempts(tx: Tx, address: string, now: string): Promise<BegunSignIns> {
  const row = await tx
    .selectFrom('single_sign_on_attempts')
    .select(({ fn }) => [
      fn.countAll<number | string>().as('count'),
      fn.min('expires_at').as('firstEnd'),
    ])
    .where('address', '=', address)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return { count: Number(row.count), firstEnd: row.firstEnd }
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

/** Identities of an account, those that ended too. */
export async function listIdentitiesOf(
  tx: Tx,
  accountId: string,
  issuer: string,
): Promise<IdentityRow[]> {
  return await tx
    .selectFrom('account_identities')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('issuer', '=', issuer)
    .execute()
}

/** The identities that an account is connected with. */
export async function listConnected(executor: Db | Tx, accountId: string): Promise<IdentityRow[]> {
  return await executor
    .selectFrom('account_identities')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('ended_at', 'is', null)
    .orderBy('created_at')
    .orderBy('subject')
    .execute()
}

/**
 * Nobody else connects an account, or ends what it is connected with, until the transaction ends. Whoever also locks an
 * identity that an account may have holds this first.
 */
export async function holdConnections(tx: Tx, accountId: string): Promise<void> {
  await dialectOf(tx).holdName(tx, `identities:${accountId}`)
}

/** Connects an account with an identity, which is new or whose connection ended. @returns false if it belongs to an account, or the account has another one of the issuer */
export async function connectIdentity(
  tx: Tx,
  row: IdentityRow & { account_id: string },
): Promise<boolean> {
  const { account_id, email, created_at, ended_at } = row
  const result = await tx
    .insertInto('account_identities')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['issuer', 'subject'])
        .doUpdateSet({ account_id, email, created_at, ended_at })
        .where((eb) =>
          eb.or([
            eb('account_identities.ended_at', 'is not', null),
            eb('account_identities.account_id', 'is', null),
          ]),
        ),
    )
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Ends what an account is connected with. @returns the identities */
export async function endIdentities(
  tx: Tx,
  accountId: string,
  now: string,
): Promise<IdentityRow[]> {
  await holdConnections(tx, accountId)
  return await tx
    .updateTable('account_identities')
    .set({ ended_at: now, email: null })
    .where('account_id', '=', accountId)
    .where('ended_at', 'is', null)
    .returningAll()
    .execute()
}
