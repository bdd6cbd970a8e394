import type { Db, Tx } from '../../schema.js'
import type { InstallationRow } from '../bots/index.js'

/** One installation, as calls about it need it. */
export async function findInstallation(
  executor: Db | Tx,
  botId: string,
  alias: string,
): Promise<InstallationRow | undefined> {
  return await executor
    .selectFrom('installations')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('alias', '=', alias)
    .executeTakeFirst()
}

/** The installation behind a webhook address. */
export async function findByWebhook(
  db: Db,
  webhookId: string,
): Promise<InstallationRow | undefined> {
  return await db
    .selectFrom('installations')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .executeTakeFirst()
}

/** How far the registrations of a bot are. */
export async function listStatuses(db: Db, botId: string): Promise<InstallationRow['status'][]> {
  const rows = await db
    .selectFrom('installations')
    .select('status')
    .where('bot_id', '=', botId)
    .execute()
  return rows.map(({ status }) => status)
}

/** Stores how a registration went, unless the installation was changed since. */
export async function settle(
  tx: Tx,
  { bot_id, alias, updated_at }: InstallationRow,
  outcome: Pick<InstallationRow, 'status' | 'status_reason'>,
): Promise<void> {
  await tx
    .updateTable('installations')
    .set(outcome)
    .where('bot_id', '=', bot_id)
    .where('alias', '=', alias)
    .where('updated_at', '=', updated_at)
    .execute()
}

/** Stores what an integration says of its installation. */
export async function configure(
  tx: Tx,
  botId: string,
  alias: string,
  patch: Partial<Pick<InstallationRow, 'identifier' | 'register_every'>>,
): Promise<void> {
  if (Object.keys(patch).length === 0) return
  await tx
    .updateTable('installations')
    .set(patch)
    .where('bot_id', '=', botId)
    .where('alias', '=', alias)
    .execute()
}
