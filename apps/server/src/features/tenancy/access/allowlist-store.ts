import { encodeBoolean } from '../../../platform/db/columns.js'
import type { Db, Tx } from '../../../platform/db/schema.js'

/** Ids of the bots of a workspace that are limited to members other than this one. */
export async function listHiddenBots(
  db: Db,
  workspaceId: string,
  accountId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('bot_allowlists')
    .select('bot_id')
    .where('workspace_id', '=', workspaceId)
    .where('is_limited', '=', encodeBoolean(true))
    .where('bot_id', 'not in', (query) =>
      query
        .selectFrom('bot_allowlist_members')
        .select('bot_id')
        .where('workspace_id', '=', workspaceId)
        .where('account_id', '=', accountId),
    )
    .execute()
  return rows.map(({ bot_id }) => bot_id)
}

/** Whether a bot is limited to the members of its list. */
export async function isLimited(executor: Db | Tx, botId: string): Promise<boolean> {
  const row = await executor
    .selectFrom('bot_allowlists')
    .select('is_limited')
    .where('bot_id', '=', botId)
    .executeTakeFirst()
  return row?.is_limited === encodeBoolean(true)
}

/** The accounts on the list of a bot, in a fixed order. */
export async function listAllowed(executor: Db | Tx, botId: string): Promise<string[]> {
  const rows = await executor
    .selectFrom('bot_allowlist_members')
    .select('account_id')
    .where('bot_id', '=', botId)
    .orderBy('account_id')
    .execute()
  return rows.map(({ account_id }) => account_id)
}

/** Moves the list of a bot with it to another workspace, with those who are members there. */
export async function moveAllowlist(
  tx: Tx,
  botId: string,
  to: string,
  members: ReadonlySet<string>,
): Promise<void> {
  const allowed = await listAllowed(tx, botId)
  await removeAllowed(
    tx,
    botId,
    allowed.filter((id) => !members.has(id)),
  )
  await tx
    .updateTable('bot_allowlist_members')
    .set({ workspace_id: to })
    .where('bot_id', '=', botId)
    .execute()
  await tx
    .updateTable('bot_allowlists')
    .set({ workspace_id: to })
    .where('bot_id', '=', botId)
    .execute()
}

export async function setLimited(
  tx: Tx,
  workspaceId: string,
  botId: string,
  isLimited: boolean,
): Promise<void> {
  const is_limited = encodeBoolean(isLimited)
  await tx
    .insertInto('bot_allowlists')
    .values({ bot_id: botId, workspace_id: workspaceId, is_limited })
    .onConflict((conflict) => conflict.column('bot_id').doUpdateSet({ is_limited }))
    .execute()
}

export async function addAllowed(
  tx: Tx,
  workspaceId: string,
  botId: string,
  accountIds: readonly string[],
): Promise<void> {
  if (accountIds.length === 0) return
  const rows = accountIds.map((account_id) => ({
    bot_id: botId,
    workspace_id: workspaceId,
    account_id,
  }))
  await tx
    .insertInto('bot_allowlist_members')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function removeAllowed(
  tx: Tx,
  botId: string,
  accountIds: readonly string[],
): Promise<void> {
  if (accountIds.length === 0) return
  await tx
    .deleteFrom('bot_allowlist_members')
    .where('bot_id', '=', botId)
    .where('account_id', 'in', [...accountIds])
    .execute()
}

/** Takes a former member from all lists of a workspace. */
export async function removeFromLists(
  tx: Tx,
  workspaceId: string,
  accountId: string,
): Promise<void> {
  await tx
    .deleteFrom('bot_allowlist_members')
    .where('workspace_id', '=', workspaceId)
    .where('account_id', '=', accountId)
    .execute()
}

/** Deletes the list of a deleted bot. */
export async function deleteAllowlist(tx: Tx, botId: string): Promise<void> {
  await tx.deleteFrom('bot_allowlist_members').where('bot_id', '=', botId).execute()
  await tx.deleteFrom('bot_allowlists').where('bot_id', '=', botId).execute()
}
