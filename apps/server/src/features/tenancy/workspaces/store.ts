import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { encodeBoolean } from '../../../platform/db/columns.js'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { workspacesOf } from '../members/index.js'
import type { WorkspacesTable } from './table.js'

export type WorkspaceRow = Selectable<WorkspacesTable>

export async function insertWorkspace(tx: Tx, row: Insertable<WorkspacesTable>): Promise<void> {
  await tx.insertInto('workspaces').values(row).execute()
}

/** The workspaces of an account, all or the one with an id or a handle. */
export async function pageWorkspaces(
  db: Db,
  accountId: string,
  filter: { id: string | undefined; handle: string | undefined },
  page: PageRequest<'created_at'>,
): Promise<Page<WorkspaceRow>> {
  let query = db.selectFrom('workspaces').selectAll().where('id', 'in', workspacesOf(db, accountId))
  if (filter.id !== undefined) query = query.where('id', '=', filter.id)
  if (filter.handle !== undefined) query = query.where('handle', '=', filter.handle)
  return await paginate(query, page)
}

/** The public workspaces of the server, all or some of them. */
export async function pagePublicWorkspaces(
  db: Db,
  { ids, search }: { ids: readonly string[] | undefined; search: string | undefined },
  page: PageRequest<'created_at'>,
): Promise<Page<WorkspaceRow>> {
  const { contains } = dialectOf(db)
  let query = db.selectFrom('workspaces').selectAll().where('is_public', '=', encodeBoolean(true))
  if (ids !== undefined) query = query.where('id', 'in', [...ids])
  if (search) {
    query = query.where(({ or, ref }) =>
      or([contains(ref('name'), search), contains(sql.ref<string>('handle'), search)]),
    )
  }
  return await paginate(query, page)
}

/** Ids of workspaces behind an id, at most `limit`, in the order of ids. */
export async function listIdsAfter(db: Db, id: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('workspaces')
    .select('id')
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}

export async function findWorkspace(
  executor: Db | Tx,
  id: string,
): Promise<WorkspaceRow | undefined> {
  return await executor.selectFrom('workspaces').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Keeps a workspace from being deleted until the transaction ends. @returns whether there is one */
export async function keepWorkspace(tx: Tx, id: string): Promise<boolean> {
  const query = tx.selectFrom('workspaces').select('id').where('id', '=', id)
  return await dialectOf(tx).keepRows(query)
}

/** Locks a workspace until the transaction ends: nothing is created in it meanwhile. @returns whether there is one */
export async function lockWorkspace(tx: Tx, id: string): Promise<boolean> {
  const query = tx.selectFrom('workspaces').select('id').where('id', '=', id)
  return (await dialectOf(tx).lockRows(query).executeTakeFirst()) !== undefined
}

/** Returns the handle of a workspace; null without one. */
export async function findHandle(executor: Db | Tx, id: string): Promise<string | null> {
  const query = executor.selectFrom('workspaces').select('handle').where('id', '=', id)
  return (await query.executeTakeFirst())?.handle ?? null
}

/** The public columns of a workspace that publishes something. */
export type PublisherRow = Pick<WorkspaceRow, 'id' | 'handle' | 'name'>

/** Some workspaces as publishers, by id. */
export async function listPublishers(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, PublisherRow>> {
  if (ids.length === 0) return new Map()
  const query = db.selectFrom('workspaces').select(['id', 'handle', 'name'])
  const rows = await query.where('id', 'in', [...new Set(ids)]).execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** The workspaces that have some handles, by handle; other handles are missing. */
export async function findByHandles(
  db: Db,
  handles: readonly string[],
): Promise<ReadonlyMap<string | null, string>> {
  const query = db.selectFrom('workspaces').select(['handle', 'id'])
  const rows = await query.where('handle', 'in', [...handles]).execute()
  return new Map(rows.map(({ handle, id }) => [handle, id]))
}

/** Counts the workspaces that an account owns. */
export async function countOwned(tx: Tx, accountId: string): Promise<number> {
  const { owned } = await tx
    .selectFrom('workspaces')
    .select(({ fn }) => fn.countAll<number>().as('owned'))
    .where('owner_id', '=', accountId)
    .executeTakeFirstOrThrow()
  return Number(owned)
}

export async function patchWorkspace(
  tx: Tx,
  id: string,
  patch: Updateable<WorkspacesTable>,
): Promise<void> {
  await tx.updateTable('workspaces').set(patch).where('id', '=', id).execute()
}

/** Deletes a workspace; its members go with it. @returns whether there was such a workspace */
export async function deleteWorkspace(tx: Tx, id: string): Promise<boolean> {
  const result = await tx.deleteFrom('workspaces').where('id', '=', id).executeTakeFirst()
  return result.numDeletedRows > 0n
}
