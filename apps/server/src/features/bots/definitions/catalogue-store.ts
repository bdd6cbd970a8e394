import { type Selectable, sql, type Updateable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type PageRequest, paginate } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { CatalogueColumns } from './catalogue-table.js'

/** The tables with those columns; each slice passes its own. */
type CatalogueTable = 'interfaces' | 'plugins'

/** The definitions of one workspace, or those that workspaces publish. */
export type Catalogue = { workspaceId: string } | 'hub'

export type CatalogueRow = Selectable<CatalogueColumns>

/** Filter of a list; undefined members match anything. */
export interface CatalogueFilter {
  name: string | undefined
  version: string | undefined
  /** Part of name, title or description. */
  search: string | undefined
}

/** Visibilities of what every workspace may use. */
export const published = ['public', 'unlisted'] as const

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

/** The columns that lists show. */
export type CatalogueSummaryRow = Pick<CatalogueRow, (typeof summary)[number]>

/**
 * The queries of one of the tables.
 * @param more columns of the table that its lists show too
 */
export function createCatalogueStore(table: CatalogueTable, more: readonly 'installs'[] = []) {
  function selectIn(executor: Db | Tx, catalogue: Catalogue) {
    const query = executor.selectFrom(table)
    return catalogue === 'hub'
      ? query.where('visibility', 'in', published)
      : query.where('workspace_id', '=', catalogue.workspaceId)
  }

  function selectUsable(executor: Db | Tx, workspaceId: string, ids: readonly string[]) {
    return executor
      .selectFrom(table)
      .where('id', 'in', [...new Set(ids)])
      .where(({ eb, or }) =>
        or([eb('workspace_id', '=', workspaceId), eb('visibility', 'in', published)]),
      )
  }

  return {
    /** @returns false if the workspace has one of this name and version */
    async insert(tx: Tx, row: CatalogueRow): Promise<boolean> {
      const result = await tx
        .insertInto(table)
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst()
      return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
    },

    async find(executor: Db | Tx, catalogue: Catalogue, id: string) {
      return await selectIn(executor, catalogue).selectAll().where('id', '=', id).executeTakeFirst()
    },

    /** One of a workspace, locked until the transaction ends. */
    async lock(tx: Tx, workspaceId: string, id: string) {
      const query = selectIn(tx, { workspaceId }).selectAll().where('id', '=', id)
      return await dialectOf(tx).lockRows(query).executeTakeFirst()
    },

    /** The versions of a name, the oldest row first. */
    async listVersions(executor: Db | Tx, catalogue: Catalogue, name: string) {
      return await selectIn(executor, catalogue)
        .select(['id', 'version'])
        .where('name', '=', name)
        .orderBy('created_at')
        .orderBy('id')
        .execute()
    },

    /** A list does not show what is unlisted, except to its own workspace. */
    async page(
      db: Db,
      catalogue: Catalogue,
      { name, version, search }: CatalogueFilter,
      page: PageRequest<'created_at' | 'updated_at' | 'name'>,
    ) {
      let query = selectIn(db, catalogue).select([...summary, ...more])
      if (catalogue === 'hub') query = query.where('visibility', '=', 'public')
      if (name !== undefined) query = query.where('name', '=', name)
      if (version !== undefined) query = query.where('version', '=', version)
      if (search !== undefined) {
        const words = sql<string>`(name || ' ' || title || ' ' || description)`
        query = query.where(dialectOf(db).contains(words, search))
      }
      return await paginate(query, page)
    },

    /** The given ones that a workspace may use: its own, and those that others publish. */
    async listUsable(executor: Db | Tx, workspaceId: string, ids: readonly string[]) {
      if (ids.length === 0) return []
      return await selectUsable(executor, workspaceId, ids).selectAll().execute()
    },

    /** The ids among the given ones that a workspace may use, locked until the transaction ends. */
    async lockUsable(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<string[]> {
      if (ids.length === 0) return []
      // In one order everywhere, so that two transactions never wait for each other.
      const query = selectUsable(tx, workspaceId, ids).select('id').orderBy('id')
      return (await dialectOf(tx).lockRows(query).execute()).map(({ id }) => id)
    },

    /**
     * Keeps those among the given ones that a workspace may use from being deleted or made private until the transaction ends.
     * @returns the ids of the others; one that does not exist is none of them
     */
    async keepAndListUnusable(
      tx: Tx,
      workspaceId: string,
      ids: readonly string[],
    ): Promise<string[]> {
      const unusable: string[] = []
      // In one order everywhere, so that two transactions never wait for each other.
      for (const id of [...ids].sort()) {
        const usable = selectUsable(tx, workspaceId, [id]).select('id')
        if (await dialectOf(tx).keepRows(usable)) continue
        const found = await tx
          .selectFrom(table)
          .select('id')
          .where('id', '=', id)
          .executeTakeFirst()
        if (found !== undefined) unusable.push(id)
      }
      return unusable
    },

    /** Whether another workspace has published one of this name. */
    async isPublishedElsewhere(
      tx: Tx,
      { name, workspace_id }: Pick<CatalogueRow, 'name' | 'workspace_id'>,
    ): Promise<boolean> {
      const found = await selectIn(tx, 'hub')
        .select('id')
        .where('name', '=', name)
        .where('workspace_id', '!=', workspace_id)
        .limit(1)
        .executeTakeFirst()
      return found !== undefined
    },

    async patch(
      tx: Tx,
      workspaceId: string,
      id: string,
      patch: Updateable<CatalogueColumns>,
    ): Promise<void> {
      await tx
        .updateTable(table)
        .set(patch)
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .execute()
    },

    async remove(tx: Tx, workspaceId: string, id: string): Promise<void> {
      await tx
        .deleteFrom(table)
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .execute()
    },

    async removeOfWorkspace(tx: Tx, workspaceId: string): Promise<void> {
      await tx.deleteFrom(table).where('workspace_id', '=', workspaceId).execute()
    },
  }
}
