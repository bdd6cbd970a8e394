import { ApiError } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import type { Ids } from '../../../platform/ids.js'
import { fieldsOf, recordAct } from '../../tenancy/audit/index.js'
import { holdWorkspace, type WorkspacesService } from '../../tenancy/workspaces/index.js'
import {
  createCatalogue,
  requireName,
  requireVersion,
  stillUsed,
  titlesIn,
} from '../definitions/index.js'
import {
  emptyDefinition,
  type InterfaceDefinition,
  type InterfacePatch,
  type NewInterface,
  patchDefinition,
} from './definition.js'
import { type InterfaceRow, interfacesStore as store } from './store.js'
import * as uses from './use-store.js'

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
  const { run, clock } = deps
  const catalogue = createCatalogue('interface', store, deps)

  return {
    list: catalogue.list,
    get: catalogue.get,
    getByName: catalogue.getByName,
    findUsableByName: catalogue.findUsableByName,

    async create(
      actor: WorkspaceActor,
      input: NewInterface,
      remember: Remember<InterfaceRow>,
    ): Promise<InterfaceRow> {
      const now = isoTime(clock.now())
      const row: InterfaceRow = {
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
        await holdWorkspace(tx, actor)
        await catalogue.insert(tx, row)
        recordAct(deps, tx, actor, { ...named(row), changes: fieldsOf(input) })
        await remember?.(tx, row)
        return row
      })
    },

    async update(actor: WorkspaceActor, id: string, patch: InterfacePatch): Promise<InterfaceRow> {
      return await run(async (tx) => {
        const current = await catalogue.lock(tx, actor, id)
        const changes = changesOf(current.definition, patch, isoTime(clock.now()))
        const next = { ...current, ...changes }
        await catalogue.requireVisibility(tx, current, next, async () => {
          const user = await uses.findUser(tx, actor.workspaceId, id, { isElsewhere: true })
          if (user === undefined) return
          throw stillUsed(
            `interface ${id}`,
            'is used in other workspaces, so that it cannot become private',
          )
        })
        await store.patch(tx, actor.workspaceId, id, changes)
        recordAct(deps, tx, actor, { ...named(current), changes: fieldsOf(patch) })
        return next
      })
    },

    async remove(actor: WorkspaceActor, id: string): Promise<void> {
      await run(
        async (tx) => {
          recordAct(deps, tx, actor, named(await catalogue.lock(tx, actor, id)))
          const user = await uses.findUser(tx, actor.workspaceId, id)
          if (user?.workspaceId === actor.workspaceId) {
            throw stillUsed(
              `interface ${id}`,
              `is still used by an integration or a plugin, for example ${user.id}`,
            )
          }
          if (user) throw stillUsed(`interface ${id}`, 'is still used in other workspaces')
          await store.remove(tx, actor.workspaceId, id)
        },
        { mayUseReserve: true },
      )
    },

    /** The given interfaces that a workspace may use, by id: its own, and those of the hub. */
    async findUsable(
      executor: Db | Tx,
      workspaceId: string,
      ids: readonly string[],
    ): Promise<ReadonlyMap<string, InterfaceRow>> {
      const rows = await store.listUsable(executor, workspaceId, ids)
      return new Map(rows.map((row) => [row.id, row]))
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
      await store.removeOfWorkspace(tx, workspaceId)
    },

    /** The public profiles of the workspaces that own interfaces. */
    publishersOf: deps.workspaces.publishersOf,
  }
}

/** The columns that a patch changes. Throws if a member is invalid. */
function changesOf(definition: string, patch: InterfacePatch, now: string) {
  return {
    ...titlesIn(patch),
    ...(patch.public !== undefined && {
      visibility: patch.public ? ('public' as const) : ('private' as const),
    }),
    definition: encodeJson(patchDefinition(decodeJson<InterfaceDefinition>(definition), patch)),
    updated_at: now,
  }
}

/** One in the audit log. */
function named({ id, name, version }: { id: string; name: string; version: string }) {
  return { resourceId: id, resourceName: `${name} ${version}` }
}
