import type { Selectable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { AccountPasswordsTable, SignInAttemptsTable } from './table.js'

export type PasswordRow = Selectable<AccountPasswordsTable>
export type AttemptsRow = Selectable<SignInAttemptsTable>

export async function findPassword(
  executor: Db | Tx,
  accountId: string,
): Promise<PasswordRow | undefined> {
  return await executor
    .selectFrom('account_passwords')
    .selectAll()
    .where('account_id', '=', accountId)
    .executeTakeFirst()
}

/** The accounts that have a password. */
export async function listAccountsWithPassword(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('account_passwords').select('account_id').execute()
  return rows.map(({ account_id }) => account_id)
}

/** The password of an account, which nobody else changes until the transaction ends. */
export async function lockPassword(tx: Tx, accountId: string): Promise<PasswordRow | undefined> {
  const query = tx.selectFrom('account_passwords').selectAll().where('account_id', '=', accountId)
  return await dialectOf(tx).lockRows(query).executeTakeFirst()
}

export async function upsertPassword(tx: Tx, row: PasswordRow): Promise<void> {
  const { hash, changed_at } = row
  await tx
    .insertInto('account_passwords')
    .values(row)
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ hash, changed_at }))
    .execute()
}

/** Stores the same password hashed anew: the time of its change stays. */
export async function patchHash(tx: Tx, accountId: string, hash: string): Promise<void> {
  await tx
    .updateTable('account_passwords')
    .set({ hash })
    .where('account_id', '=', accountId)
    .execute()
}

export async function isKnownDevice(db: Db, accountId: string, hash: string): Promise<boolean> {
  const row = await db
    .selectFrom('account_devices')
    .select('hash')
    .where('account_id', '=', accountId)
    .where('hash', '=', hash)
    .executeTakeFirst()
  return row !== undefined
}

/** Remembers a browser of an account, and forgets the oldest beyond `keep`. */
export async function upsertDevice(
  tx: Tx,
  accountId: string,
  hash: string,
  now: string,
  keep: number,
): Promise<void> {
  await tx
    .insertInto('account_devices')
    .values({ account_id: accountId, hash, last_used_at: now })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'hash']).doUpdateSet({ last_used_at: now }),
    )
    .execute()
  const old = await tx
    .selectFrom('account_devices')
    .select('hash')
    .where('account_id', '=', accountId)
    .orderBy('last_used_at', 'desc')
    .orderBy('hash')
    .offset(keep)
    .limit(keep)
    .execute()
  if (old.length === 0) return
  await tx
    .deleteFrom('account_devices')
    .where('account_id', '=', accountId)
    .where(
      'hash',
      'in',
      old.map(({ hash: each }) => each),
    )
    .execute()
}

export async function deleteDevices(tx: Tx, accountId: string): Promise<void> {
  await tx.deleteFrom('account_devices').where('account_id', '=', accountId).execute()
}

/** The attempts under a key, which nobody else counts until the transaction ends. */
export async function lockAttempts(tx: Tx, key: string, now: string): Promise<AttemptsRow> {
  const fresh = { key, failures: 0, blocked_until: null, last_at: now }
  await tx
    .insertInto('sign_in_attempts')
    .values(fresh)
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
  const query = tx.selectFrom('sign_in_attempts').selectAll().where('key', '=', key)
  return (await dialectOf(tx).lockRows(query).executeTakeFirst()) ?? fresh
}

export async function patchAttempts(tx: Tx, { key, ...row }: AttemptsRow): Promise<void> {
  await tx.updateTable('sign_in_attempts').set(row).where('key', '=', key).execute()
}

/** Deletes some attempts that are older than a time, and returns how many. */
export async function deleteOldAttempts(tx: Tx, before: string, limit: number): Promise<number> {
  const old = tx
    .selectFrom('sign_in_attempts')
    .select('key')
    .where('last_at', '<', before)
    .limit(limit)
  const result = await tx.deleteFrom('sign_in_attempts').where('key', 'in', old).executeTakeFirst()
  return Number(result.numDeletedRows)
}
