import type { Selectable } from 'kysely'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { AccountSecondFactorsTable, SignInTicketsTable } from './table.js'

export type SecondFactorRow = Selectable<AccountSecondFactorsTable>
export type TicketRow = Selectable<SignInTicketsTable>

/** The second factor of an account, also one that was begun and not confirmed. */
export async function findSecondFactor(
  executor: Db | Tx,
  accountId: string,
): Promise<SecondFactorRow | undefined> {
  return await executor
    .selectFrom('account_second_factors')
    .selectAll()
    .where('account_id', '=', accountId)
    .executeTakeFirst()
}

/** The accounts whose second factor is in force. */
export async function listAccountsWithSecondFactor(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('account_second_factors')
    .select('account_id')
    .where('since', 'is not', null)
    .execute()
  return rows.map(({ account_id }) => account_id)
}

/** Begins a second factor anew. @returns false if one is in force */
export async function beginSecondFactor(
  tx: Tx,
  accountId: string,
  secret: string,
): Promise<boolean> {
  const begun = { secret, last_step: 0, since: null }
  const result = await tx
    .insertInto('account_second_factors')
    .values({ account_id: accountId, ...begun })
    .onConflict((conflict) =>
      conflict
        .column('account_id')
        .doUpdateSet(begun)
        .where('account_second_factors.since', 'is', null),
    )
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Puts a begun second factor into force. @returns false if it is already, or its secret is another one meanwhile */
export async function confirmSecondFactor(
  tx: Tx,
  { account_id, secret }: SecondFactorRow,
  step: number,
  now: string,
): Promise<boolean> {
  const result = await tx
    .updateTable('account_second_factors')
    .set({ since: now, last_step: step })
    .where('account_id', '=', account_id)
    .where('secret', '=', secret)
    .where('since', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Uses the code of a step up, with those before it. @returns false if it was used */
export async function takeStep(
  tx: Tx,
  { account_id, secret }: SecondFactorRow,
  step: number,
): Promise<boolean> {
  const result = await tx
    .updateTable('account_second_factors')
    .set({ last_step: step })
    .where('account_id', '=', account_id)
    .where('secret', '=', secret)
    .where('last_step', '<', step)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Uses a recovery code up. @returns false if it is unknown or was used */
export async function takeRecoveryCode(tx: Tx, accountId: string, hash: string): Promise<boolean> {
  const result = await tx
    .deleteFrom('account_recovery_codes')
    .where('account_id', '=', accountId)
    .where('hash', '=', hash)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

export async function countRecoveryCodes(db: Db, accountId: string): Promise<number> {
  const { count } = await db
    .selectFrom('account_recovery_codes')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function replaceRecoveryCodes(
  tx: Tx,
  accountId: string,
  hashes: readonly string[],
): Promise<void> {
  await tx.deleteFrom('account_recovery_codes').where('account_id', '=', accountId).execute()
  const rows = hashes.map((hash) => ({ account_id: accountId, hash }))
  if (rows.length > 0) await tx.insertInto('account_recovery_codes').values(rows).execute()
}

/** @returns whether one was in force */
export async function deleteSecondFactor(tx: Tx, accountId: string): Promise<boolean> {
  await replaceRecoveryCodes(tx, accountId, [])
  const row = await tx
    .deleteFrom('account_second_factors')
    .where('account_id', '=', accountId)
    .returning('since')
    .executeTakeFirst()
  return row !== undefined && row.since !== null
}

export async function insertTicket(tx: Tx, row: TicketRow): Promise<void> {
  await tx.insertInto('sign_in_tickets').values(row).execute()
}

export async function findTicket(
  db: Db,
  hash: string,
  now: string,
): Promise<TicketRow | undefined> {
  return await db
    .selectFrom('sign_in_tickets')
    .selectAll()
    .where('hash', '=', hash)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

/** Deletes a ticket, so that it works once. @returns false if it is gone or expired */
export async function takeTicket(tx: Tx, hash: string, now: string): Promise<boolean> {
  const result = await tx
    .deleteFrom('sign_in_tickets')
    .where('hash', '=', hash)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

export async function deleteTicketsOf(tx: Tx, accountId: string): Promise<void> {
  await tx.deleteFrom('sign_in_tickets').where('account_id', '=', accountId).execute()
}

export async function deleteExpiredTickets(tx: Tx, now: string): Promise<number> {
  const result = await tx
    .deleteFrom('sign_in_tickets')
    .where('expires_at', '<=', now)
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
