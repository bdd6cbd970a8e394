import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { InterfacesTable } from './table.js'

export type InterfaceRow = Selectable<InterfacesTable>

/** The interfaces of one workspace, or those of the hub. */
export type Catalogue = { workspaceId: string } | 'hub'

const summary = [
  'id',
  'workspace_id',
  'name',
  'version',
  'title',
  'description',
  'icon',
  'visibility',
  'created_at',
  'updated_at',
] as const

/** The columns of an interface that lists show. */
export type InterfaceSummaryRow = Pick<InterfaceRow, (typeof summary)[number]>

/** Filter of a list of interfaces; undefined members match anything. */
export interface InterfaceFilter {
  name: string | undefined
  version: string | undefined
  /** Part of name, title or description. */
  search: string | undefined
}

function selectIn(executor: Db | Tx, catalogue: Catalogue) {
  const query = executor.selectFrom('interfaces')
  return catalogue === 'hub'
    ? query.where('visibility', '=', 'public')
    : query.where('workspace_id', '=', catalogue.workspaceId)
}

/** @returns false if the workspace has one of this name and version */
export async function insertInterface(tx: Tx, row: Insertable<InterfacesTable>): Promise<boolean> {
  const result = await tx
    .insertInto('interfaces')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

export async function findInterface(
  executor: Db | Tx,
  catalogue: Catalogue,
  id: string,
): Promise<InterfaceRow | undefined> {
  return await selectIn(executor, catalogue).selectAll().where('id', '=', id).executeTakeFirst()
}

/** An interface of a workspace, locked until the transaction ends. */
export async function lockInterface(
  tx: Tx,
  workspaceId: string,
  id: string,
): Promise<InterfaceRow | undefined> {
  const query = selectIn(tx, { workspaceId }).selectAll().where('id', '=', id)
  return await dialectOf(tx).lockRows(query).executeTakeFirst()
}

/** The versions of a name, the oldest row first. */
export async function listVersions(
  executor: Db | Tx,
  catalogue: Catalogue,
  name: string,
): Promise<Pick<InterfaceRow, 'id' | 'version'>[]> {
  return await selectIn(executor, catalogue)
    .select(['id', 'version'])
    .where('name', '=', name)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

export async function pageInterfaces(
  db: Db,
  catalogue: Catalogue,
  { name, version, search }: InterfaceFilter,
  page: PageRequest<'created_at' | 'updated_at' | 'name'>,
): Promise<Page<InterfaceSummaryRow>> {
  let query = selectIn(db, catalogue).select(summary)
  if (name !== undefined) query = query.where('name', '=', name)
  if (version !== undefined) query = query.where('version', '=', version)
  if (search !== undefined) {
    const words = sql<string>`(name || ' ' || title || ' ' || description)`
    query = query.where(dialectOf(db).contains(words, search))
  }
  return await paginate(query, page)
}

/** The given interfaces that a workspace may use: its own, and those of the hub. */
export async function listUsable(
  executor: Db | Tx,
  workspaceId: string,
  ids: readonly string[],
): Promise<InterfaceRow[]> {
  if (ids.length === 0) return []
  return await executor
    .selectFrom('interfaces')
    .selectAll()
    .where('id', 'in', [...new Set(ids)])
    .where(({ eb, or }) =>
      or([eb('workspace_id', '=', workspaceId), eb('visibility', '=', 'public')]),
    )
    .execute()
}

/** The ids among the given ones that a workspace may use, locked until the transaction ends. */
export async function lockUsable(
  tx: Tx,
  workspaceId: string,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return []
  const query = tx
    .selectFrom('interfaces')
    .select('id')
    .where('id', 'in', [...new Set(ids)])
    .where(({ eb, or }) =>
      or([eb('workspace_id', '=', workspaceId), eb('visibility', '=', 'public')]),
    )
    // In one order everywhere, so that two transactions never wait for each other.
    .orderBy('id')
  return (await dialectOf(tx).lockRows(query).execute()).map(({ id }) => id)
}

/** Whether another workspace has published an interface of this name. */
export async function isPublishedElsewhere(
  tx: Tx,
  { name, workspaceId }: { name: string; workspaceId: string },
): Promise<boolean> {
  const found = await selectIn(tx, 'hub')
    .select('id')
    .where('name', '=', name)
    .where('workspace_id', '!=', workspaceId)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

export async function patchInterface(
  tx: Tx,
  workspaceId: string,
  id: string,
  patch: Updateable<InterfacesTable>,
): Promise<void> {
  await tx
    .updateTable('interfaces')
    .set(patch)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute()
}

export async function deleteInterface(tx: Tx, workspaceId: string, id: string): Promise<void> {
  await tx
    .deleteFrom('interfaces')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute()
}

export async function deleteOfWorkspace(tx: Tx, workspaceId: string): Promise<void> {
  await tx.deleteFrom('interfaces').where('workspace_id', '=', workspaceId).execute()
}
