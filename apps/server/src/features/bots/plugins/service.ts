import type { WorkspaceActor } from '../../../domain/actor.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import type { Ids } from '../../../platform/ids.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { fieldsOf, recordAct } from '../../tenancy/audit/index.js'
import { holdWorkspace, type WorkspacesService } from '../../tenancy/workspaces/index.js'
import {
  type Catalogue,
  createCatalogue,
  requireName,
  requireVersion,
  stillUsed,
  titlesIn,
  visibilityIn,
} from '../definitions/index.js'
import type { InterfacesService } from '../interfaces/index.js'
import {
  type DependencyPatch,
  emptyDefinition,
  logPatternsOfPlugin,
  type NewPlugin,
  type PluginDefinition,
  type PluginPatch,
  patchDefinition,
} from './definition.js'
import { type DependencyDeps, resolveDependencies } from './dependencies.js'
import { findInstalledBot, listInstalledBots } from './installation-store.js'
import * as store from './store.js'

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    /** A plugin changed, so that the cached profiles of bots that have it are stale. */
    'plugin.changed': { installedIn: readonly string[] }
  }
}

export interface PluginsServiceDeps {
  db: Db
  run: Run
  dialect: Pick<Dialect, 'holdName'>
  clock: Clock
  log: Pick<Log, 'warn'>
  ids: Ids
  pager: Pager
  domainEvents: EventDispatcher
  workspaces: Pick<WorkspacesService, 'handleOf' | 'publishersOf'>
  interfaces: {
    service: DependencyDeps['interfaces'] & Pick<InterfacesService, 'replaceUses' | 'removeUses'>
  }
  integrations: { service: DependencyDeps['integrations'] }
}

/** Maximum number of bots whose caches are cleared at once; others notice a change within five seconds. */
const maxNotified = 1000

export type PluginsService = ReturnType<typeof createPluginsService>

/**
 * Makes the service of plugins: those of a workspace, which its members change, and those of the hub, which are
 * the published ones of all workspaces.
 */
export function createPluginsService(deps: PluginsServiceDeps) {
  const { db, run, clock } = deps
  const interfaces = deps.interfaces.service
  const integrations = deps.integrations.service

  const catalogue = createCatalogue('plugin', store.pluginsStore, deps)

  async function dependenciesOf(executor: Db | Tx, actor: WorkspaceActor, patch: PluginPatch) {
    return await resolveDependencies({ interfaces, integrations }, executor, actor, patch)
  }

  /** Records the interfaces that a plugin names by their ids: those cannot be deleted. */
  async function recordInterfaces(tx: Tx, row: store.PluginRow): Promise<void> {
    const { dependencies } = decodeJson<PluginDefinition>(row.definition)
    const used = Object.entries(dependencies.interfaces)
      .filter(([, { isById }]) => isById)
      .map(([alias, { id, name }]) => ({ alias, interface_id: id, interface_name: name }))
    await interfaces.replaceUses(tx, { workspaceId: row.workspace_id, id: row.id }, used)
  }

  async function raiseChanged(tx: Tx, pluginId: string): Promise<void> {
    const installedIn = await listInstalledBots(tx, pluginId, maxNotified)
    await deps.domainEvents.raise(tx, 'plugin.changed', { installedIn })
  }

  return {
    list: catalogue.list,
    get: catalogue.get,
    getByName: catalogue.getByName,

    /** The code of a plugin for one platform. */
    async getCode(where: Catalogue, id: string, platform: store.Platform): Promise<string> {
      const { workspace_id: workspaceId } = await catalogue.get(where, id)
      const code = await store.findCode(db, workspaceId, id, platform)
      if (code === undefined) throw catalogue.unknown(where, id)
      return code
    },

    async create(
      actor: WorkspaceActor,
      input: NewPlugin,
      remember: Remember<store.PluginRow>,
    ): Promise<store.PluginRow> {
      const now = isoTime(clock.now())
      const dependencies = await dependenciesOf(db, actor, input)
      const row: store.PluginRow = {
        id: deps.ids.next('plugin'),
        workspace_id: actor.workspaceId,
        name: requireName(input.name),
        version: requireVersion(input.version),
        title: '',
        description: '',
        icon: '',
        readme: '',
        visibility: 'private',
        installs: 0,
        created_at: now,
        ...changesOf(encodeJson(emptyDefinition), input, dependencies, now),
      }
      return await run(async (tx) => {
        await holdWorkspace(tx, actor)
        await catalogue.insert(tx, row)
        await store.putCodes(tx, row, input.code)
        await recordInterfaces(tx, row)
        logPatternsOfPlugin(tx, deps.log, row.id, decodeJson(row.definition))
        recordAct(deps, tx, actor, { ...named(row), changes: fieldsOf(input) })
        await remember?.(tx, row)
        return row
      })
    },

    async update(actor: WorkspaceActor, id: string, patch: PluginPatch): Promise<store.PluginRow> {
      return await run(async (tx) => {
        const current = await catalogue.lock(tx, actor, id)
        const dependencies = await dependenciesOf(tx, actor, patch)
        const now = isoTime(clock.now())
        const changes = changesOf(current.definition, patch, dependencies, now)
        const next = { ...current, ...changes }
        await catalogue.requireVisibility(tx, current, next, async () => {
          const place = { pluginId: id, workspaceId: actor.workspaceId }
          if ((await findInstalledBot(tx, place, 'elsewhere')) === undefined) return
          throw stillUsed(
            `plugin ${id}`,
            'is installed in bots of other workspaces, so that it cannot become private',
          )
        })
        await store.pluginsStore.patch(tx, actor.workspaceId, id, changes)
        if (patch.code) await store.putCodes(tx, next, patch.code)
        if (patch.dependencies) await recordInterfaces(tx, next)
        logPatternsOfPlugin(tx, deps.log, id, decodeJson(next.definition))
        await raiseChanged(tx, id)
        recordAct(deps, tx, actor, { ...named(current), changes: fieldsOf(patch) })
        return next
      })
    },

    async remove(actor: WorkspaceActor, id: string): Promise<void> {
      await run(
        async (tx) => {
          recordAct(deps, tx, actor, named(await catalogue.lock(tx, actor, id)))
          const place = { pluginId: id, workspaceId: actor.workspaceId }
          const botId = await findInstalledBot(tx, place, 'here')
          if (botId !== undefined) {
            throw stillUsed(`plugin ${id}`, `is still installed, for example in the bot ${botId}`)
          }
          if ((await findInstalledBot(tx, place, 'elsewhere')) !== undefined) {
            throw stillUsed(`plugin ${id}`, 'is still installed in bots of other workspaces')
          }
          await store.deletePlugin(tx, actor.workspaceId, id)
          await interfaces.removeUses(tx, { workspaceId: actor.workspaceId, id })
        },
        { mayUseReserve: true },
      )
    },

    /** Removes every plugin of a workspace, after its bots, in the transaction that removes it. */
    removeAll: store.deleteOfWorkspace,

    /** The public profiles of the workspaces that own plugins. */
    publishersOf: deps.workspaces.publishersOf,
  }
}

/** The columns that a patch changes. Throws if a member is invalid. */
function changesOf(
  definition: string,
  patch: PluginPatch,
  dependencies: DependencyPatch,
  now: string,
) {
  const visibility = visibilityIn(patch)
  return {
    ...titlesIn(patch),
    ...(visibility !== undefined && { visibility }),
    definition: encodeJson(
      patchDefinition(decodeJson<PluginDefinition>(definition), patch, dependencies),
    ),
    updated_at: now,
  }
}

/** One in the audit log. */
function named({ id, name, version }: { id: string; name: string; version: string }) {
  return { resourceId: id, resourceName: `${name} ${version}` }
}
