import { ApiError } from '@botstead/contract'
import { notFound } from '../../../domain/refusals.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { Catalogue, CatalogueRow, createCatalogueStore } from './catalogue-store.js'
import { highestOf } from './names.js'
import { createPublishing, type PublishingDeps } from './publishing.js'

interface CatalogueDeps extends PublishingDeps {
  db: Db
  pager: Pager
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
    return notFound(kind, what, where)
  }

  async function get(catalogue: Catalogue, id: string) {
    const found = await store.find(db, catalogue, id)
    if (found === undefined) throw unknown(catalogue, id)
    return found
  }

  const { requireNew, requireVisibility } = createPublishing<CatalogueRow>(
    { dialect, workspaces },
    {
      kind,
      isPublished: ({ visibility }) => visibility !== 'private',
      isTaken: (tx, row) => store.isPublishedElsewhere(tx, row),
    },
  )

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
      await requireNew(tx, row)
      if (await store.insert(tx, row)) return
      throw new ApiError(
        'AlreadyExists',
        `body.version: there is ${withArticle(kind)} ${name} of version ${version} in this workspace; update it, or give a new version.`,
      )
    },

    requireVisibility,
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
