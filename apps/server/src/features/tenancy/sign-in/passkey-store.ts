import type { ExpressionBuilder, Selectable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import type { Db, Schema, Tx } from '../../../platform/db/schema.js'
import type { BegunSignIns } from './begun.js'
import type { PasskeyChallengesTable, PasskeysTable } from './table.js'

export type ChallengeRow = Selectable<PasskeyChallengesTable>
type WantedChallenge = Omit<ChallengeRow, 'address' | 'expires_at'>
export type PasskeyRow = Selectable<PasskeysTable>

/** Replaces the challenge of an account, so that one at most waits; those of sign-ins stand beside each other. */
export async function insertChallenge(tx: Tx, row: ChallengeRow): Promise<void> {
  if (row.account_id !== null) await deleteChallengesOf(tx, row.account_id)
  await tx.insertInto('passkey_challenges').values(row).execute()
}

/**
 * Deletes a challenge, so that it works once, and only in the browser and for the purpose for which it was made.
 * @returns false if it is unknown, was used or has expired
 */
export async function takeChallenge(
  tx: Tx,
  wanted: WantedChallenge,
  now: string,
): Promise<boolean> {
  const result = await tx
    .deleteFrom('passkey_challenges')
    .where(isChallenge(wanted, now))
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

/** Whether `takeChallenge` finds a challenge now. */
export async function isChallengeWaiting(
  db: Db,
  wanted: WantedChallenge,
  now: string,
): Promise<boolean> {
  const query = db.selectFrom('passkey_challenges').select('hash').where(isChallenge(wanted, now))
  return (await query.executeTakeFirst()) !== undefined
}

function isChallenge({ hash, browser, account_id }: WantedChallenge, now: string) {
  return (eb: ExpressionBuilder<Schema, 'passkey_challenges'>) =>
    eb.and([
      eb('hash', '=', hash),
      eb('browser', '=', browser),
      eb('account_id', account_id === null ? 'is' : '=', account_id),
      eb('expires_at', '>', now),
    ])
}

/** The sign-ins from a network address that wait. */
export async function countSignIns(tx: Tx, address: string, now: string): Promise<BegunSignIns> {
  const row = await tx
    .selectFrom('passkey_challenges')
    .select(({ fn }) => [
      fn.countAll<number | string>().as('count'),
      fn.min('expires_at').as('firstEnd'),
    ])
    .where('address', '=', address)
    .where('account_id', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return { count: Number(row.count), firstEnd: row.firstEnd }
}

export async function deleteChallengesOf(tx: Tx, accountId: string): Promise<void> {
  await tx.deleteFrom('passkey_challenges').where('account_id', '=', accountId).execute()
}

export async function deleteExpiredChallenges(tx: Tx, now: string): Promise<number> {
  const result = await tx
    .deleteFrom('passkey_challenges')
    .where('expires_at', '<=', now)
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

/**
 * Makes additions, removals and sign-ins with the passkeys of an account wait until the transaction ends. Whoever also locks
 * its password holds the passkeys first.
 */
export async function holdPasskeys(tx: Tx, accountId: string): Promise<void> {
  await dialectOf(tx).holdName(tx, `passkeys ${accountId}`)
}

export async function findPasskey(
  executor: Db | Tx,
  credentialId: string,
): Promise<PasskeyRow | undefined> {
  return await executor
    .selectFrom('passkeys')
    .selectAll()
    .where('credential_id', '=', credentialId)
    .executeTakeFirst()
}

/** The passkeys of an account, oldest first. */
export async function listPasskeys(executor: Db | Tx, accountId: string): Promise<PasskeyRow[]> {
  return await executor
    .selectFrom('passkeys')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** The number of passkeys by account, of accounts that have any: for the operator. */
export async function countPasskeys(db: Db): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('passkeys')
    .select(({ fn }) => ['account_id', fn.countAll<number | string>().as('count')])
    .groupBy('account_id')
    .execute()
  return new Map(rows.map((row) => [row.account_id, Number(row.count)]))
}

/** The hosts for which passkeys were made, with their number: for the operator. */
export async function listPasskeyHosts(db: Db): Promise<{ host: string; count: number }[]> {
  const rows = await db
    .selectFrom('passkeys')
    .select(({ fn }) => ['host', fn.countAll<number | string>().as('count')])
    .groupBy('host')
    .orderBy('host')
    .execute()
  return rows.map(({ host, count }) => ({ host, count: Number(count) }))
}

/** @returns false if the credential is known */
export async function insertPasskey(tx: Tx, row: PasskeyRow): Promise<boolean> {
  const result = await tx
    .insertInto('passkeys')
    .values(row)
    .onConflict((conflict) => conflict.column('credential_id').doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

export async function patchPasskey(
  tx: Tx,
  id: string,
  patch: Partial<Pick<PasskeyRow, 'name' | 'counter' | 'is_backed_up' | 'last_used_at'>>,
): Promise<PasskeyRow> {
  return await tx
    .updateTable('passkeys')
    .set(patch)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deletePasskey(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('passkeys').where('id', '=', id).execute()
}

/** Deletes the passkeys of an account, and what would become one. */
export async function deletePasskeysOf(tx: Tx, accountId: string): Promise<void> {
  await holdPasskeys(tx, accountId)
  await deleteChallengesOf(tx, accountId)
  await tx.deleteFrom('passkeys').where('account_id', '=', accountId).execute()
}
