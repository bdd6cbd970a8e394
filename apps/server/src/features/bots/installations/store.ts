import { type Expression, type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import type { BotScope } from '../../../domain/rights.js'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { InstallationsTable } from './table.js'

export type InstallationRow = Selectable<InstallationsTable>

/** Whether a registration is not under way yet, but waits for the account of the installation. */
export function isWaiting({
  status,
  status_reason,
}: Pick<InstallationRow, 'status' | 'status_reason'>): boolean {
  return status === 'registration_pending' && status_reason !== null
}

export async function insertInstallation(
  tx: Tx,
  row: Insertable<InstallationsTable>,
): Promise<void> {
  await tx.insertInto('installations').values(row).execute()
}

/** Installations of a bot, oldest first. */
export async function listInstallations(
  executor: Db | Tx,
  botId: string,
): Promise<InstallationRow[]> {
  return await executor
    .selectFrom('installations')
    .selectAll()
    .where('bot_id', '=', botId)
    .orderBy('created_at')
    .orderBy('alias')
    .execute()
}

/** The installation behind a public address; webhook ids are unique in the whole server. */
export async function findInstallationByWebhook(
  db: Db,
  webhookId: string,
): Promise<InstallationRow | undefined> {
  return await db
    .selectFrom('installations')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .executeTakeFirst()
}

export async function patchInstallation(
  tx: Tx,
  botId: string,
  alias: string,
  patch: Updateable<InstallationsTable>,
): Promise<void> {
  if (Object.keys(patch).length === 0) return
  await tx
    .updateTable('installations')
    .set(patch)
    .where('bot_id', '=', botId)
    .where('alias', '=', alias)
    .execute()
}

export async function deleteInstallation(tx: Tx, botId: string, alias: string): Promise<void> {
  await tx
    .deleteFrom('installations')
    .where('bot_id', '=', botId)
    .where('alias', '=', alias)
    .execute()
}

export async function deleteInstallations(tx: Tx, botId: string): Promise<void> {
  await tx.deleteFrom('installations').where('bot_id', '=', botId).execute()
}

/** One installation, with what calls about it need. */
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

/** Status of the registrations of a bot, without those that failed or wait for something. */
export async function listRegistrationStatuses(
  db: Db,
  botId: string,
): Promise<InstallationRow['status'][]> {
  const rows = await db
    .selectFrom('installations')
    .select('status')
    .where('bot_id', '=', botId)
    // One that waits for its account has a reason.
    .where('status_reason', 'is', null)
    .execute()
  return rows.map(({ status }) => status)
}

/** Stores the result of a registration, unless the installation was changed since. */
export async function settleRegistration(
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

/** The columns that show whether an installation works. */
export type InstallationStateRow = Pick<
  InstallationRow,
  'bot_id' | 'alias' | 'integration_id' | 'name' | 'status' | 'status_reason' | 'updated_at'
>

/** The installations of some bots. */
export async function listInstallationStates(
  db: Db,
  botIds: readonly string[],
): Promise<InstallationStateRow[]> {
  return await db
    .selectFrom(dialectOf(db).jsonTexts(sql`${JSON.stringify(botIds)}`))
    .crossJoin('installations')
    .whereRef('installations.bot_id', '=', 'given.value')
    .select(['bot_id', 'alias', 'integration_id', 'name', 'status', 'status_reason', 'updated_at'])
    .execute()
}

/** An installation as lists of its integration have it; `id` is the alias. */
export type InstallationListRow = Omit<InstallationRow, 'alias'> & { id: string }

/** An integration, and the workspace of the bots in which it is installed. */
export interface InstallationPlace {
  integrationId: string
  workspaceId: string
}

/** The installations of an integration in the bots that a caller may see, all or those with a status. */
export async function pageInstallationsOf(
  db: Db,
  { workspaceId, rights: { bots } }: BotScope,
  integrationId: string,
  status: InstallationRow['status'] | undefined,
  page: PageRequest<'bot_id'>,
): Promise<Page<InstallationListRow>> {
  let own = db
    .selectFrom('installations')
    .selectAll()
    .select('alias as id')
    .where('integration_id', '=', integrationId)
    .where('workspace_id', '=', workspaceId)
  if (status !== undefined) own = own.where('status', '=', status)
  if (bots.kind === 'only') own = own.where('bot_id', '=', bots.botId)
  if (bots.kind === 'except') own = own.where('bot_id', 'not in', bots.botIds)
  return await paginate(db.selectFrom(own.as('own')).selectAll(), page)
}

/** The columns that identify an installation. */
export type InstallationKey = Pick<InstallationRow, 'bot_id' | 'alias'>

/** The installations of an integration in the bots of a workspace. */
export async function listInstallationsOf(
  db: Db,
  { integrationId, workspaceId }: InstallationPlace,
): Promise<InstallationKey[]> {
  return await db
    .selectFrom('installations')
    .select(['bot_id', 'alias'])
    .where('integration_id', '=', integrationId)
    .where('workspace_id', '=', workspaceId)
    .execute()
}

/** Moves the installations of a bot with it to another workspace. */
export async function moveInstallations(tx: Tx, botId: string, to: string): Promise<void> {
  await tx
    .updateTable('installations')
    .set({ workspace_id: to })
    .where('bot_id', '=', botId)
    .execute()
}

/** All installations of an integration, in any workspace: for an integration that is removed. */
export async function listInstalledRows(tx: Tx, integrationId: string): Promise<InstallationRow[]> {
  return await tx
    .selectFrom('installations')
    .selectAll()
    .where('integration_id', '=', integrationId)
    .orderBy('bot_id')
    .orderBy('alias')
    .execute()
}

/** A bot of the workspace, or of another one, in which an integration is installed; undefined without any. */
export async function findInstalledBot(
  tx: Tx,
  { integrationId, workspaceId }: InstallationPlace,
  where: 'here' | 'elsewhere',
): Promise<string | undefined> {
  const row = await tx
    .selectFrom('installations')
    .select('bot_id')
    .where('integration_id', '=', integrationId)
    .where('workspace_id', where === 'here' ? '=' : '!=', workspaceId)
    .limit(1)
    .executeTakeFirst()
  return row?.bot_id
}

/** Ids of bots in which an integration is installed, at most `limit`. */
export async function listInstalledBots(
  executor: Db | Tx,
  integrationId: string,
  limit: number,
): Promise<string[]> {
  const rows = await executor
    .selectFrom('installations')
    .select('bot_id')
    .distinct()
    .where('integration_id', '=', integrationId)
    .limit(limit)
    .execute()
  return rows.map(({ bot_id }) => bot_id)
}

/** The installations of a bot, as a subquery for `exists`: by the name or the id of an integration. */
export function installationsIn(
  db: Db,
  botId: Expression<string> | string,
  integration: { name: string } | { id: Expression<string> },
) {
  const ofBot = db.selectFrom('installations').select('alias').where('bot_id', '=', botId)
  return 'name' in integration
    ? ofBot.where('name', '=', integration.name)
    : ofBot.where('integration_id', '=', integration.id)
}
