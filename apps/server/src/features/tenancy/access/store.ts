import type { Insertable, Selectable } from 'kysely'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { AccessTokensTable, SignInCodesTable } from './table.js'

export type TokenRow = Selectable<AccessTokensTable>

/** The columns of a token that lists show. */
export type TokenSummaryRow = Pick<TokenRow, (typeof summary)[number]>

/** Maximum number of old keys of a deployment that are looked at together. */
const oldKeysAtOnce = 1000

const summary = [
  'id',
  'note',
  'created_at',
  'last_used_at',
  'read_only',
  'workspace_id',
  'bot_id',
  'expires_at',
] as const

/** @returns whether the row was stored: false if there is a token with the same value */
export async function insertToken(tx: Tx, row: Insertable<AccessTokensTable>): Promise<boolean> {
  const result = await tx
    .insertInto('access_tokens')
    .values(row)
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** The token with a value, of any owner: for authentication, which has no scope yet. */
export async function findTokenByHash(
  executor: Db | Tx,
  hash: string,
): Promise<TokenRow | undefined> {
  return await executor
    .selectFrom('access_tokens')
    .selectAll()
    .where('hash', '=', hash)
    .executeTakeFirst()
}

/** The token of a call, by the id that authentication found. */
export async function findToken(executor: Db | Tx, id: string): Promise<TokenRow | undefined> {
  return await executor
    .selectFrom('access_tokens')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
}

/** The time at which a personal token expires; undefined for one that does not, and for sessions. */
export async function findEndOfPersonal(db: Db, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('access_tokens')
    .select('expires_at')
    .where('id', '=', id)
    .where('kind', '=', 'personal')
    .executeTakeFirst()
  return row?.expires_at ?? undefined
}

/** The tokens of a kind that people made, newest first. */
function newestOf(db: Db, kind: AccessTokensTable['kind']) {
  return db
    .selectFrom('access_tokens')
    .select(summary)
    .where('kind', '=', kind)
    .where('deployment_id', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
}

/** Personal tokens of an account, newest first. */
export async function listPersonalTokens(db: Db, accountId: string): Promise<TokenSummaryRow[]> {
  return await newestOf(db, 'personal').where('account_id', '=', accountId).execute()
}

/** Keys of a bot that people made, newest first. */
export async function listBotKeys(
  db: Db,
  workspaceId: string,
  botId: string,
): Promise<TokenSummaryRow[]> {
  return await newestOf(db, 'bot')
    .where('workspace_id', '=', workspaceId)
    .where('bot_id', '=', botId)
    .execute()
}

/** Keys of an integration that people made, newest first. */
export async function listIntegrationKeys(
  db: Db,
  workspaceId: string,
  integrationId: string,
): Promise<TokenSummaryRow[]> {
  return await newestOf(db, 'integration')
    .where('workspace_id', '=', workspaceId)
    .where('integration_id', '=', integrationId)
    .execute()
}

/** Tokens of every kind and owner that people made, newest first: for the operator. */
export async function listTokens(db: Db): Promise<TokenRow[]> {
  return await db
    .selectFrom('access_tokens')
    .selectAll()
    .where('deployment_id', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

/** @returns whether the account had such a token or session */
export async function deleteOwn(
  tx: Tx,
  kind: 'personal' | 'session',
  accountId: string,
  id: string,
): Promise<boolean> {
  const result = await tx
    .deleteFrom('access_tokens')
    .where('account_id', '=', accountId)
    .where('kind', '=', kind)
    .where('id', '=', id)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

/** @returns whether the workspace had such a key */
export async function deleteKey(
  tx: Tx,
  kind: 'bot' | 'integration',
  workspaceId: string,
  id: string,
): Promise<boolean> {
  const result = await tx
    .deleteFrom('access_tokens')
    .where('workspace_id', '=', workspaceId)
    .where('kind', '=', kind)
    .where('id', '=', id)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

/** @returns whether there was such a token, of any owner: for the operator */
export async function deleteToken(tx: Tx, id: string): Promise<boolean> {
  const result = await tx.deleteFrom('access_tokens').where('id', '=', id).executeTakeFirst()
  return result.numDeletedRows > 0n
}

export async function deleteKeysOfWorkspace(tx: Tx, workspaceId: string): Promise<void> {
  await tx.deleteFrom('access_tokens').where('workspace_id', '=', workspaceId).execute()
}

/** Deletes the tokens of an account that are limited to a workspace. Returns their ids. */
export async function deleteTokensOfMember(
  tx: Tx,
  workspaceId: string,
  accountId: string,
): Promise<string[]> {
  const rows = await tx
    .deleteFrom('access_tokens')
    .where('workspace_id', '=', workspaceId)
    .where('account_id', '=', accountId)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** The accounts with tokens that are limited to a bot. */
export async function listAccountsLimitedTo(tx: Tx, botId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('access_tokens')
    .select('account_id')
    .distinct()
    .where('bot_id', '=', botId)
    .where('account_id', 'is not', null)
    .execute()
  return rows.flatMap(({ account_id }) => account_id ?? [])
}

/** Moves the keys of a bot, and the tokens that are limited to it, to another workspace. */
export async function moveKeysOfBot(tx: Tx, botId: string, to: string): Promise<void> {
  await tx
    .updateTable('access_tokens')
    .set({ workspace_id: to })
    .where('bot_id', '=', botId)
    .execute()
}

/** Deletes the tokens of some accounts that are limited to a bot. */
export async function deleteTokensLimitedTo(
  tx: Tx,
  botId: string,
  accountIds: readonly string[],
): Promise<void> {
  if (accountIds.length === 0) return
  await tx
    .deleteFrom('access_tokens')
    .where('bot_id', '=', botId)
    .where('account_id', 'in', [...accountIds])
    .execute()
}

/** Deletes the keys of a deleted bot, whose workspace is no longer known. */
export async function deleteKeysOfBot(tx: Tx, botId: string): Promise<void> {
  await tx.deleteFrom('access_tokens').where('bot_id', '=', botId).execute()
}

/** Deletes the keys of an integration that is being deleted. Returns their ids. */
export async function deleteKeysOfIntegration(tx: Tx, integrationId: string): Promise<string[]> {
  const rows = await tx
    .deleteFrom('access_tokens')
    .where('integration_id', '=', integrationId)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Deletes the keys of all deployments. */
export async function deleteDeploymentKeys(tx: Tx): Promise<void> {
  await tx.deleteFrom('access_tokens').where('deployment_id', 'is not', null).execute()
}

/**
 * Deletes some keys of a deployment that are not among its newest, and were neither made nor used since an ISO 8601 time.
 * Returns their ids.
 */
export async function deleteOldDeploymentKeys(
  tx: Tx,
  deploymentId: string,
  keep: number,
  before: string,
): Promise<string[]> {
  const old = await tx
    .selectFrom('access_tokens')
    .select(['id', 'created_at', 'last_used_at'])
    .where('deployment_id', '=', deploymentId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(keep)
    .limit(oldKeysAtOnce)
    .execute()
  const ids = old
    .filter(({ created_at, last_used_at }) => (last_used_at ?? created_at) < before)
    .map(({ id }) => id)
  if (ids.length > 0) await tx.deleteFrom('access_tokens').where('id', 'in', ids).execute()
  return ids
}

/** Makes the keys of a deployment last until they are deleted. Returns their ids. */
export async function keepDeploymentKeys(tx: Tx, deploymentId: string): Promise<string[]> {
  const rows = await tx
    .updateTable('access_tokens')
    .set({ expires_at: null })
    .where('deployment_id', '=', deploymentId)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Makes the keys of deployments end at an ISO 8601 time, unless they end earlier. Returns the ids of those that do. */
export async function endDeploymentKeysAt(
  tx: Tx,
  deploymentIds: readonly string[],
  at: string,
): Promise<string[]> {
  if (deploymentIds.length === 0) return []
  const rows = await tx
    .updateTable('access_tokens')
    .set({ expires_at: at })
    .where('deployment_id', 'in', deploymentIds)
    .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', at)]))
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** The tokens with these ids: those of calls, by the ids that authentication found. */
export async function findTokens(db: Db, ids: readonly string[]): Promise<TokenRow[]> {
  return await db.selectFrom('access_tokens').selectAll().where('id', 'in', ids).execute()
}

export async function markUsed(tx: Tx, ids: readonly string[], at: string): Promise<void> {
  await tx.updateTable('access_tokens').set({ last_used_at: at }).where('id', 'in', ids).execute()
}

/** Sessions of an account that have not expired, newest first. */
export async function listSessions(
  db: Db,
  accountId: string,
  now: string,
  limit: number,
): Promise<TokenRow[]> {
  return await db
    .selectFrom('access_tokens')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('kind', '=', 'session')
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Deletes all sessions of an account but its newest. Returns their ids. */
export async function deleteOldSessions(
  tx: Tx,
  accountId: string,
  keep: number,
): Promise<string[]> {
  const old = await tx
    .selectFrom('access_tokens')
    .select('id')
    .where('account_id', '=', accountId)
    .where('kind', '=', 'session')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(keep * 2)
    .execute()
  const ids = old.slice(keep).map(({ id }) => id)
  if (ids.length > 0) await tx.deleteFrom('access_tokens').where('id', 'in', ids).execute()
  return ids
}

/** Ends the session with a value, which a browser gives up for another one. Returns its id. */
export async function deleteSessionByHash(tx: Tx, hash: string): Promise<string | undefined> {
  const row = await tx
    .deleteFrom('access_tokens')
    .where('hash', '=', hash)
    .where('kind', '=', 'session')
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

/** Ends all sessions of an account but one. Returns their ids. */
export async function deleteSessionsOf(
  tx: Tx,
  accountId: string,
  exceptId: string | undefined,
): Promise<string[]> {
  const rows = await tx
    .deleteFrom('access_tokens')
    .where('account_id', '=', accountId)
    .where('kind', '=', 'session')
    .where('id', '!=', exceptId ?? '')
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Deletes all tokens of an account, its sessions among them. Returns their ids. */
export async function deleteTokensOf(tx: Tx, accountId: string): Promise<string[]> {
  const rows = await tx
    .deleteFrom('access_tokens')
    .where('account_id', '=', accountId)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Deletes the personal tokens of an account. Returns their ids. */
export async function deletePersonalOf(tx: Tx, accountId: string): Promise<string[]> {
  const rows = await tx
    .deleteFrom('access_tokens')
    .where('account_id', '=', accountId)
    .where('kind', '=', 'personal')
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Makes the codes of an account unusable that were not used. */
export async function deleteSignInCodesOf(tx: Tx, accountId: string): Promise<void> {
  await tx.deleteFrom('sign_in_codes').where('account_id', '=', accountId).execute()
}

/** Deletes some tokens that have expired, and returns how many. */
export async function deleteExpiredTokens(tx: Tx, now: string, limit: number): Promise<number> {
  const expired = tx
    .selectFrom('access_tokens')
    .select('id')
    .where('expires_at', '<=', now)
    .limit(limit)
  const result = await tx.deleteFrom('access_tokens').where('id', 'in', expired).executeTakeFirst()
  return Number(result.numDeletedRows)
}

export async function insertSignInCode(tx: Tx, row: Insertable<SignInCodesTable>): Promise<void> {
  await tx.insertInto('sign_in_codes').values(row).execute()
}

/** Deletes a code, so that it works once. @returns its account; undefined if it is unknown or expired */
export async function takeSignInCode(
  tx: Tx,
  hash: string,
  now: string,
): Promise<string | undefined> {
  const row = await tx
    .deleteFrom('sign_in_codes')
    .where('hash', '=', hash)
    .where('expires_at', '>', now)
    .returning('account_id')
    .executeTakeFirst()
  return row?.account_id
}

export async function deleteExpiredCodes(tx: Tx, now: string): Promise<number> {
  const result = await tx
    .deleteFrom('sign_in_codes')
    .where('expires_at', '<=', now)
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
