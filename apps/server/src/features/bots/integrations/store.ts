import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import { prepared } from '../../../platform/db/prepared.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { installationsIn } from '../installations/index.js'
import { usesIn } from '../interfaces/index.js'
import type { IntegrationsTable } from './table.js'

export type IntegrationRow = Selectable<IntegrationsTable>

/** The columns of an integration that lists show. */
export const summary = [
  'id',
  'name',
  'version',
  'title',
  'description',
  'icon',
  'visibility',
  'definition',
  'installs',
  'created_at',
  'updated_at',
] as const

/** The columns of an integration that lists show. */
export type IntegrationSummaryRow = Pick<IntegrationRow, (typeof summary)[number]>

/** Filter of a list of integrations; undefined members match anything. */
export interface IntegrationFilter {
  dev: boolean
  name: string | undefined
  version: string | undefined
  visibility: string | undefined
  installedByBotId: string | undefined
  interfaceId: string | undefined
  interfaceName: string | undefined
  /** Part of name, title or description. */
  search: string | undefined
}

/** @returns false if the workspace has one of this name and version */
export async function insertIntegration(
  tx: Tx,
  row: Insertable<IntegrationsTable>,
): Promise<boolean> {
  const result = await tx
    .insertInto('integrations')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

const selectWorkspaceOf = prepared<{ id: string }>()((db, p) =>
  db.selectFrom('integrations').select('workspace_id').where('id', '=', p('id')),
)

/** The workspace of an integration, or undefined if there is no such integration. */
export async function findWorkspaceOf(tx: Tx, id: string): Promise<string | undefined> {
  return (await selectWorkspaceOf.first(tx, { id }))?.workspace_id
}

export async function findIntegration(
  executor: Db | Tx,
  workspaceId: string,
  id: string,
): Promise<IntegrationRow | undefined> {
  return await executor
    .selectFrom('integrations')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Without a workspace: for calls about an installation, whose creation was authorised. */
export async function findInstalled(
  executor: Db | Tx,
  id: string,
): Promise<IntegrationRow | undefined> {
  return await executor
    .selectFrom('integrations')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
}

/** The columns of an integration that say which of several versions is meant. */
export type IntegrationVersionRow = Pick<IntegrationRow, 'id' | 'version' | 'visibility' | 'dev'>

/** Maximum number of versions of a name that are considered. */
const maxVersions = 1000

/** The newest versions of a name in a workspace, with those of development tools. */
export async function listAllVersions(
  executor: Db | Tx,
  { workspaceId, name }: { workspaceId: string; name: string },
): Promise<IntegrationVersionRow[]> {
  return await executor
    .selectFrom('integrations')
    .select(['id', 'version', 'visibility', 'dev'])
    .where('name', '=', name)
    .where('workspace_id', '=', workspaceId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(maxVersions)
    .execute()
}

/**
 * The integrations of a name in any workspace, also behind a handle, at most `limit`: those of one workspace first, and the
 * oldest ones first. Reads the names of all integrations.
 */
export async function listNamesakes(
  executor: Db | Tx,
  { name, workspaceId }: { name: string; workspaceId: string },
  limit: number,
): Promise<Pick<IntegrationRow, 'workspace_id' | 'name' | 'dev' | 'definition'>[]> {
  const behindHandle = `%/${name.replaceAll(/[\\%_]/g, '\\$&')}`
  const rows = await executor
    .selectFrom('integrations')
    .select(['workspace_id', 'name', 'dev', 'definition'])
    .where(({ eb, or }) =>
      or([eb('name', '=', name), sql<boolean>`name like ${behindHandle} escape '\\'`]),
    )
    .orderBy(({ eb, case: choose }) =>
      choose()
        .when(eb('workspace_id', '=', workspaceId))
        .then(0)
        .else(1)
        .end(),
    )
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute()
  // SQLite compares without regard to case.
  return rows.filter((row) => row.name === name || row.name.endsWith(`/${name}`))
}

/** Ids of all integrations of a workspace. */
export async function listIds(db: Db | Tx, workspaceId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('integrations')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .execute()
  return rows.map(({ id }) => id)
}

/** An integration of a workspace, locked until the transaction ends. */
export async function lockIntegration(
  tx: Tx,
  workspaceId: string,
  id: string,
): Promise<IntegrationRow | undefined> {
  const query = tx
    .selectFrom('integrations')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
  return await dialectOf(tx).lockRows(query).executeTakeFirst()
}

/** Keeps an integration from being deleted until the transaction ends. @returns whether it is in the workspace */
export async function keepIntegration(tx: Tx, workspaceId: string, id: string): Promise<boolean> {
  const query = tx
    .selectFrom('integrations')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
  return await dialectOf(tx).keepRows(query)
}

const published = ['public', 'unlisted'] as const

/**
 * Keeps an integration from being deleted or made private until the transaction ends.
 * @returns whether bots of the workspace may use it
 */
export async function keepUsable(tx: Tx, workspaceId: string, id: string): Promise<boolean> {
  const query = tx
    .selectFrom('integrations')
    .select('id')
    .where('id', '=', id)
    .where(({ eb, or }) =>
      or([eb('workspace_id', '=', workspaceId), eb('visibility', 'in', published)]),
    )
  return await dialectOf(tx).keepRows(query)
}

/** An integration that every workspace may see and install. */
export async function findPublished(db: Db, id: string): Promise<IntegrationRow | undefined> {
  return await db
    .selectFrom('integrations')
    .selectAll()
    .where('id', '=', id)
    .where('visibility', 'in', published)
    .where('dev', '=', 0)
    .executeTakeFirst()
}

/** The given integrations that a workspace may use: its own, and those that others publish. */
export async function listUsable(
  executor: Db | Tx,
  workspaceId: string,
  ids: readonly string[],
): Promise<IntegrationRow[]> {
  if (ids.length === 0) return []
  return await executor
    .selectFrom('integrations')
    .selectAll()
    .where('id', 'in', [...new Set(ids)])
    .where(({ and, eb, or }) =>
      or([
        eb('workspace_id', '=', workspaceId),
        and([eb('visibility', 'in', published), eb('dev', '=', 0)]),
      ]),
    )
    .execute()
}

/** Whether another workspace has published an integration of this name. */
export async function isPublishedElsewhere(
  tx: Tx,
  { name, workspaceId }: { name: string; workspaceId: string },
): Promise<boolean> {
  const found = await tx
    .selectFrom('integrations')
    .select('id')
    .where('visibility', 'in', published)
    .where('name', '=', name)
    .where('dev', '=', 0)
    .where('workspace_id', '!=', workspaceId)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** The released versions of a name. */
export async function listVersions(
  executor: Db | Tx,
  workspaceId: string,
  name: string,
): Promise<Pick<IntegrationRow, 'id' | 'version'>[]> {
  return await executor
    .selectFrom('integrations')
    .select(['id', 'version'])
    .where('workspace_id', '=', workspaceId)
    .where('name', '=', name)
    .where('dev', '=', 0)
    .execute()
}

export async function pageIntegrations(
  db: Db,
  workspaceId: string,
  filter: IntegrationFilter,
  page: PageRequest<'created_at' | 'updated_at' | 'name' | 'installs'>,
): Promise<Page<IntegrationSummaryRow>> {
  let query = db
    .selectFrom('integrations')
    .select(summary)
    .where('workspace_id', '=', workspaceId)
    .where('dev', '=', filter.dev ? 1 : 0)
  const { name, version, visibility, installedByBotId: botId, search } = filter
  const { interfaceId, interfaceName } = filter
  if (name !== undefined) query = query.where('name', '=', name)
  if (version !== undefined) query = query.where('version', '=', version)
  if (visibility === 'public') query = query.where('visibility', '=', 'public')
  else if (visibility !== undefined) query = query.where('visibility', '!=', 'public')
  if (botId !== undefined) {
    query = query.where(({ exists, ref }) =>
      exists(
        installationsIn(db, botId, { id: ref('integrations.id') }).where(
          'installations.workspace_id',
          '=',
          workspaceId,
        ),
      ),
    )
  }
  if (interfaceId !== undefined) {
    query = query.where(({ exists, ref }) =>
      exists(usesIn(db, ref('integrations.id'), { interfaceId })),
    )
  }
  if (interfaceName !== undefined) {
    query = query.where(({ exists, ref }) =>
      exists(usesIn(db, ref('integrations.id'), { interfaceName })),
    )
  }
  if (search !== undefined) {
    const words = sql<string>`(name || ' ' || title || ' ' || description)`
    query = query.where(dialectOf(db).contains(words, search))
  }
  return await paginate(query, page)
}

export async function patchIntegration(
  tx: Tx,
  workspaceId: string,
  id: string,
  patch: Updateable<IntegrationsTable>,
): Promise<void> {
  await tx
    .updateTable('integrations')
    .set(patch)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute()
}

export async function deleteIntegration(tx: Tx, workspaceId: string, id: string): Promise<void> {
  await tx
    .deleteFrom('integrations')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute()
}

/**
 * Deletes the integrations of a workspace that is deleted.
 * @returns their ids
 */
export async function deleteOfWorkspace(tx: Tx, workspaceId: string): Promise<string[]> {
  const rows = await tx
    .deleteFrom('integrations')
    .where('workspace_id', '=', workspaceId)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}
