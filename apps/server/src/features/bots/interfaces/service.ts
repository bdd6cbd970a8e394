import { ApiError, type contract, type Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import type { Ids } from '../../../platform/ids.js'
import type { WorkspacesService } from '../../tenancy/workspaces/index.js'
import {
  highestOf,
  requireName,
  requireOwnHandle,
  requirePublishable,
  requireVersion,
  stillUsed,
} from '../definitions/index.js'
import {
  emptyDefinition,
  type InterfaceDefinition,
  type InterfacePatch,
  type NewInterface,
  patchDefinition,
} from './definition.js'
import * as store from './store.js'
import * as uses from './use-store.js'

type ListQuery = Query<typeof contract.interfaces.list>

export interface InterfacesServiceDeps {
  db: Db
  run: Run
  dialect: Pick<Dialect, 'holdName'>
  clock: Clock
  ids: Ids
  pager: Pager
  workspaces: Pick<WorkspacesService, 'handleOf' | 'publishersOf'>
}

export type InterfacesService = ReturnType<typeof createInterfacesService>

/**
 * Makes the service of interfaces: those of a workspace, which its members change, and those of the hub, which
 * are the public ones of all workspaces.
 */
export function createInterfacesService(deps: InterfacesServiceDeps) {
  const { db, run, clock } = deps

  async function find(catalogue: store.Catalogue, id: string): Promise<store.InterfaceRow> {
    const found = await store.findInterface(db, catalogue, id)
    if (found === undefined) throw unknown(catalogue, id)
    return found
  }

  async function lock(tx: Tx, { workspaceId }: WorkspaceActor, id: string) {
    const found = await store.lockInterface(tx, workspaceId, id)
    if (found === undefined) throw unknown({ workspaceId }, id)
    return found
  }

  /** Throws for a name that begins with the handle of another workspace. */
  async function requireOwn(tx: Tx, { name, workspace_id }: store.InterfaceRow): Promise<void> {
    if (!name.includes('/')) return
    requireOwnHandle(name, await deps.workspaces.handleOf(tx, workspace_id))
  }

  async function requirePublic(tx: Tx, row: store.InterfaceRow): Promise<void> {
    // The handle may be that of another workspace by now.
    await requireOwn(tx, row)
    const { name, workspace_id: workspaceId } = row
    const isTaken = () => store.isPublishedElsewhere(tx, { name, workspaceId })
    await requirePublishable(tx, deps.dialect, { kind: 'interface', name, isTaken })
  }

  return {
    async list(
      actor: WorkspaceActor,
      query: ListQuery,
      where: 'own' | 'hub',
    ): Promise<Page<store.InterfaceSummaryRow>> {
      const { nextToken, pageSize, sortBy = 'createdAt', direction, ...filter } = query
      return await store.pageInterfaces(
        db,
        where === 'hub' ? 'hub' : actor,
        { name: filter.name, version: filter.version, search: filter.search },
        deps.pager.page({
          operation: where === 'hub' ? 'listPublicInterfaces' : 'listInterfaces',
          scope: where === 'hub' ? '' : actor.workspaceId,
          filter: { ...filter, sortBy },
          sort: sortColumns[sortBy],
          direction: direction ?? (sortBy === 'name' ? 'asc' : 'desc'),
          nextToken,
          pageSize,
        }),
      )
    },

    get: find,

    /** The highest version of a name that matches: an exact version, `latest` or a range. */
    async getByName(
      catalogue: store.Catalogue,
      name: string,
      version: string,
    ): Promise<store.InterfaceRow> {
      const found = highestOf(await store.listVersions(db, catalogue, name), version)
      if (found === undefined) throw unknown(catalogue, `${name} of version ${version}`)
      return await find(catalogue, found.id)
    },

    async create(
      actor: WorkspaceActor,
      input: NewInterface,
      remember: Remember<store.InterfaceRow>,
    ): Promise<store.InterfaceRow> {
      const now = isoTime(clock.now())
      const row: store.InterfaceRow = {
        id: deps.ids.uuid(),
        workspace_id: actor.workspaceId,
        name: requireName(input.name),
        version: requireVersion(input.version),
        title: '',
        description: '',
        icon: '',
        readme: '',
        visibility: 'private',
        created_at: now,
        ...changesOf(encodeJson(emptyDefinition), input, now),
      }
      return await run(async (tx) => {
        await requireOwn(tx, row)
        if (row.visibility === 'public') await requirePublic(tx, row)
        if (!(await store.insertInterface(tx, row))) throw taken(row)
        await remember?.(tx, row)
        return row
      })
    },

    async update(
      actor: WorkspaceActor,
      id: string,
      patch: InterfacePatch,
    ): Promise<store.InterfaceRow> {
      return await run(async (tx) => {
        const current = await lock(tx, actor, id)
        const next = {
          ...current,
          ...changesOf(current.definition, patch, isoTime(clock.now())),
        }
        if (next.visibility !== current.visibility) {
          if (next.visibility === 'public') await requirePublic(tx, next)
          else if (await uses.findUser(tx, actor.workspaceId, id, { isElsewhere: true })) {
            throw stillUsed(
              `interface ${id}`,
              'is used in other workspaces, so that it cannot become private',
            )
          }
        }
        await store.patchInterface(tx, actor.workspaceId, id, next)
        return next
      })
    },

    async remove(actor: WorkspaceActor, id: string): Promise<void> {
      await run(
        async (tx) => {
          await lock(tx, actor, id)
          const user = await uses.findUser(tx, actor.workspaceId, id)
          if (user?.workspaceId === actor.workspaceId) {
            throw stillUsed(
              `interface ${id}`,
              `is still used by an integration or a plugin, for example ${user.id}`,
            )
          }
          if (user) throw stillUsed(`interface ${id}`, 'is still used in other workspaces')
          await store.deleteInterface(tx, actor.workspaceId, id)
        },
        { mayUseReserve: true },
      )
    },

    /** The given interfaces that a workspace may use, by id: its own, and those of the hub. */
    async findUsable(
      executor: Db | Tx,
      workspaceId: string,
      ids: readonly string[],
    ): Promise<ReadonlyMap<string, store.InterfaceRow>> {
      const rows = await store.listUsable(executor, workspaceId, ids)
      return new Map(rows.map((row) => [row.id, row]))
    },

    /** The highest version of a name that a workspace may use: its own first, then of the hub. */
    async findUsableByName(
      executor: Db | Tx,
      workspaceId: string,
      name: string,
      version: string,
    ): Promise<Pick<store.InterfaceRow, 'id' | 'version'> | undefined> {
      for (const catalogue of [{ workspaceId }, 'hub'] as const) {
        const found = highestOf(await store.listVersions(executor, catalogue, name), version)
        if (found) return found
      }
      return undefined
    },

    /**
     * Records which interfaces an integration or a plugin uses, instead of those before.
     * @throws ApiError `ReferenceNotFound` if one of them was deleted meanwhile
     */
    async replaceUses(
      tx: Tx,
      user: uses.InterfaceUser,
      used: readonly uses.InterfaceUse[],
    ): Promise<void> {
      const ids = [...new Set(used.map((use) => use.interface_id))]
      const usable = await store.lockUsable(tx, user.workspaceId, ids)
      const gone = ids.find((id) => !usable.includes(id))
      if (gone !== undefined) {
        throw new ApiError('ReferenceNotFound', `There is no interface ${gone}.`)
      }
      await uses.replaceUses(tx, user, used)
    },

    /** Forgets what a deleted integration or plugin used. */
    removeUses: uses.deleteUses,

    /** Removes every interface of a workspace in the transaction that removes it. */
    async removeAll(tx: Tx, workspaceId: string): Promise<void> {
      await uses.deleteUsesOfWorkspace(tx, workspaceId)
      await store.deleteOfWorkspace(tx, workspaceId)
    },

    /** What everybody may see of the workspaces of interfaces. */
    publishersOf: deps.workspaces.publishersOf,
  }
}

const sortColumns = {
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  name: 'name',
} as const

/** The columns that a patch changes. Throws if a member is invalid. */
function changesOf(definition: string, patch: InterfacePatch, now: string) {
  return {
    ...(patch.title !== undefined && { title: patch.title }),
    ...(patch.description !== undefined && { description: patch.description }),
    ...(patch.icon !== undefined && { icon: patch.icon }),
    ...(patch.readme !== undefined && { readme: patch.readme }),
    ...(patch.public !== undefined && {
      visibility: patch.public ? ('public' as const) : ('private' as const),
    }),
    definition: encodeJson(patchDefinition(decodeJson<InterfaceDefinition>(definition), patch)),
    updated_at: now,
  }
}

function unknown(catalogue: store.Catalogue, what: string): ApiError {
  const where = catalogue === 'hub' ? 'in the hub' : 'in this workspace'
  return new ApiError('ResourceNotFound', `There is no interface ${what} ${where}.`)
}

function taken({ name, version }: store.InterfaceRow): ApiError {
  return new ApiError(
    'AlreadyExists',
    `body.version: there is an interface ${name} of version ${version} in this workspace; update it, or give a new version.`,
  )
}
