import { ApiError } from '@botstead/contract'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { WorkspacesService } from '../../tenancy/workspaces/index.js'
import type { Catalogue, CatalogueRow, createCatalogueStore } from './catalogue-store.js'
import { highestOf, requireOwnHandle, requirePublishable } from './names.js'

interface CatalogueDeps {
  db: Db
  dialect: Pick<Dialect, 'holdName'>
  pager: Pager
  workspaces: Pick<WorkspacesService, 'handleOf'>
}

/** The parameters of a list, as interfaces and plugins have them. */
interface CatalogueQuery {
  name?: string
  version?: string
  search?: string
  sortBy?: keyof typeof sortColumns
  direction?: 'asc' | 'desc'
  nextToken?: string
  pageSize?: number
}

const sortColumns = {
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  name: 'name',
} as const

/** The operations that list a kind, in a workspace and in the hub. */
const operations = {
  interface: { own: 'listInterfaces', hub: 'listPublicInterfaces' },
  plugin: { own: 'listPlugins', hub: 'listPublicPlugins' },
} as const

type Kind = keyof typeof operations

/**
 * The common part of interfaces and plugins: workspaces define them by name and version and publish them, and all
 * find those in the hub.
 * @param store of the table of that kind
 */
export function createCatalogue(
  kind: Kind,
  store: ReturnType<typeof createCatalogueStore>,
  { db, dialect, pager, workspaces }: CatalogueDeps,
) {
  function unknown(catalogue: Catalogue, what: string): ApiError {
    const where = catalogue === 'hub' ? 'in the hub' : 'in this workspace'
    return new ApiError('ResourceNotFound', `There is no ${kind} ${what} ${where}.`)
  }

  async function get(catalogue: Catalogue, id: string) {
    const found = await store.find(db, catalogue, id)
    if (found === undefined) throw unknown(catalogue, id)
    return found
  }

  /** Throws for a name that begins with the handle of another workspace. */
  async function requireOwn(tx: Tx, { name, workspace_id }: CatalogueRow): Promise<void> {
    if (!name.includes('/')) return
    requireOwnHandle(name, await workspaces.handleOf(tx, workspace_id))
  }

  /** Throws unless a workspace may publish under this name. */
  async function requirePublic(tx: Tx, row: CatalogueRow): Promise<void> {
    // The handle may be that of another workspace by now.
    await requireOwn(tx, row)
    const isTaken = () => store.isPublishedElsewhere(tx, row)
    await requirePublishable(tx, dialect, { kind, name: row.name, isTaken })
  }

  return {
    unknown,

    async list(
      { workspaceId }: { workspaceId: string },
      query: CatalogueQuery,
      where: 'own' | 'hub',
    ) {
      const { nextToken, pageSize, sortBy = 'createdAt', direction, ...filter } = query
      return await store.page(
        db,
        where === 'hub' ? 'hub' : { workspaceId },
        { name: filter.name, version: filter.version, search: filter.search },
        pager.page({
          operation: operations[kind][where],
          scope: where === 'hub' ? '' : workspaceId,
          filter: { ...filter, sortBy },
          sort: sortColumns[sortBy],
          direction: direction ?? (sortBy === 'name' ? 'asc' : 'desc'),
          nextToken,
          pageSize,
        }),
      )
    },

    get,

    /** The highest version of a name that matches: an exact version, `latest` or a range. */
    async getByName(catalogue: Catalogue, name: string, version: string) {
      const found = highestOf(await store.listVersions(db, catalogue, name), version)
      if (found === undefined) throw unknown(catalogue, `${name} of version ${version}`)
      return await get(catalogue, found.id)
    },

    /** The highest version of a name that a workspace may use: its own first, then of the hub. */
    async findUsableByName(
      executor: Db | Tx,
      workspaceId: string,
      name: string,
      version: string,
    ): Promise<Pick<CatalogueRow, 'id' | 'version'> | undefined> {
      for (const catalogue of [{ workspaceId }, 'hub'] as const) {
        const found = highestOf(await store.listVersions(executor, catalogue, name), version)
        if (found) return found
      }
      return undefined
    },

    /** Locked until the transaction ends: who begins to use it waits for a change that may forbid that. */
    async lock(tx: Tx, { workspaceId }: { workspaceId: string }, id: string) {
      const found = await store.lock(tx, workspaceId, id)
      if (found === undefined) throw unknown({ workspaceId }, id)
      return found
    },

    /** Throws unless the workspace may have, and if it is not private publish, one of this name and version. */
    async insert(tx: Tx, row: CatalogueRow): Promise<void> {
      const { name, version } = row
      await requireOwn(tx, row)
      if (row.visibility !== 'private') await requirePublic(tx, row)
      if (await store.insert(tx, row)) return
      throw new ApiError(
        'AlreadyExists',
        `body.version: there is ${withArticle(kind)} ${name} of version ${version} in this workspace; update it, or give a new version.`,
      )
    },

    /**
     * Throws if a change of the visibility takes a name of others.
     * @param requireUnused throws if it takes something from others that they use
     */
    async requireVisibility(
      tx: Tx,
      current: CatalogueRow,
      next: CatalogueRow,
      requireUnused: () => Promise<void>,
    ): Promise<void> {
      const isPrivate = next.visibility === 'private'
      if (isPrivate === (current.visibility === 'private')) return
      await (isPrivate ? requireUnused() : requirePublic(tx, next))
    },
  }
}

function withArticle(kind: Kind): string {
  return kind === 'interface' ? 'an interface' : 'a plugin'
}

interface Titles {
  title?: string
  description?: string
  icon?: string
  readme?: string
}

/** The columns for people that a patch changes. */
export function titlesIn(patch: Titles) {
  return {
    ...(patch.title !== undefined && { title: patch.title }),
    ...(patch.description !== undefined && { description: patch.description }),
    ...(patch.icon !== undefined && { icon: patch.icon }),
    ...(patch.readme !== undefined && { readme: patch.readme }),
  }
}
