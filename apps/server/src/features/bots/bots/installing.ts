import { ApiError } from '@botstead/contract'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { Ids } from '../../../platform/ids.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import * as installations from '../installations/index.js'
import type { IntegrationsService } from '../integrations/index.js'
import type { PluginPatches, PluginsInBots } from '../plugins/index.js'
import type { BotRow } from './store.js'

export interface InstallingDeps {
  ids: Ids
  sealer: Sealer
  domainEvents: EventDispatcher
  integrations: Pick<
    IntegrationsService,
    'findInstallable' | 'keepUsable' | 'countInstallation' | 'countRemoval' | 'removeAll'
  >
  plugins: PluginsInBots
}

/** Requested changes of the installations of a bot. */
interface InstallingPatch {
  integrations?: installations.InstallationPatches
  plugins?: PluginPatches
}

type Integrations = ReadonlyMap<string, installations.InstallableIntegration>

/** Makes the part of the slice of bots that installs integrations and plugins in them. */
export function createInstalling({
  ids,
  sealer,
  domainEvents,
  integrations,
  plugins,
}: InstallingDeps) {
  /** Integrations by id, with those that come with the server. */
  async function integrationsOf(
    executor: Db | Tx,
    workspaceId: string,
    wanted: readonly string[],
  ): Promise<Integrations> {
    const { builtInEntries } = installations
    const others = wanted.filter((id) => !builtInEntries.has(id))
    const found =
      others.length === 0 ? [] : await integrations.findInstallable(executor, workspaceId, others)
    return new Map([...builtInEntries, ...found])
  }

  async function count(
    tx: Tx,
    workspaceId: string,
    changes: readonly installations.InstallationChange[],
  ): Promise<void> {
    const isCounted = (id: string) => !installations.builtInEntries.has(id)
    for (const { before, after } of changes) {
      const [from, to] = [before?.integration_id, after?.integration_id]
      if (from === to) continue
      if (from !== undefined && isCounted(from)) await integrations.countRemoval(tx, from)
      if (to !== undefined && isCounted(to)) {
        await integrations.countInstallation(tx, workspaceId, to)
      }
    }
  }

  async function apply(
    tx: Tx,
    botId: string,
    workspaceId: string,
    changes: readonly installations.InstallationChange[],
  ): Promise<void> {
    for (const { before, after } of changes) {
      if (after === undefined && before) {
        await installations.deleteInstallation(tx, botId, before.alias)
      } else if (after && before) {
        await installations.patchInstallation(tx, botId, before.alias, after)
      } else if (after) await installations.insertInstallation(tx, after)
    }
    await domainEvents.raise(tx, 'installations.changed', { botId, changes })
    await count(tx, workspaceId, changes)
  }

  return {
    integrationsOf,

    /** Applies the patches of an update of a bot: plugins may use what is installed with them. */
    async change(
      tx: Tx,
      { id: botId, workspace_id: workspaceId }: Pick<BotRow, 'id' | 'workspace_id'>,
      patch: InstallingPatch,
      now: string,
    ): Promise<void> {
      if (patch.integrations === undefined && patch.plugins === undefined) return
      const installed = await installations.listInstallations(tx, botId)
      const wanted = [
        ...installed.map((row) => row.integration_id),
        ...installations.integrationsIn(patch.integrations),
      ]
      const known = await integrationsOf(tx, workspaceId, wanted)
      if (patch.integrations !== undefined) {
        const making = { botId, workspaceId, now, sealer, newWebhookId: () => ids.uuid() }
        const changes = installations.changesOf(installed, patch.integrations, known, making)
        await apply(tx, botId, workspaceId, changes)
      }
      if (patch.plugins === undefined) return
      const host = {
        botId,
        workspaceId,
        integrations: await installations.listInstallations(tx, botId),
        known,
      }
      await plugins.change(tx, host, patch.plugins, now)
    },

    /**
     * Moves everything that is installed in a bot to another workspace, which must be allowed to use it.
     * @throws ApiError `ReferenceConstraint` with the names of what it may not use
     */
    async move(tx: Tx, botId: string, to: string): Promise<void> {
      const { builtInEntries } = installations
      const installed = await installations.listInstallations(tx, botId)
      const refused = await plugins.listUnusable(tx, botId, to)
      const refusedIds = new Set<string>()
      const ids = new Set(installed.map((row) => row.integration_id))
      for (const id of [...ids].sort()) {
        if (builtInEntries.has(id) || (await integrations.keepUsable(tx, to, id))) continue
        refusedIds.add(id)
      }
      const names = [
        ...installed
          .filter((row) => refusedIds.has(row.integration_id))
          .map(({ alias, name, version }) => `the integration ${name} ${version} (as ${alias})`),
        ...refused.map(({ alias, name, version }) => `the plugin ${name} ${version} (as ${alias})`),
      ]
      if (names.length > 0) {
        throw new ApiError(
          'ReferenceConstraint',
          `body.targetWorkspaceId: that workspace may not use ${names.join(', ')}. Remove from the bot what it may not use, or publish it, and repeat the transfer.`,
        )
      }
      await installations.moveInstallations(tx, botId, to)
      await plugins.move(tx, botId, to)
    },

    /** Removes everything that is installed in a bot that is removed. */
    async removeOf(tx: Tx, botId: string, workspaceId: string): Promise<void> {
      const installed = await installations.listInstallations(tx, botId)
      const changes = installed.map((before) => ({ before }))
      await installations.deleteInstallations(tx, botId)
      await domainEvents.raise(tx, 'installations.changed', { botId, changes })
      await count(tx, workspaceId, changes)
      await plugins.removeOf(tx, botId)
    },

    /**
     * Removes the integrations of a workspace that is removed, also from the bots of others.
     * @returns ids of those bots
     */
    async removeIntegrations(tx: Tx, workspaceId: string): Promise<Set<string>> {
      const others = new Set<string>()
      for (const id of await integrations.removeAll(tx, workspaceId)) {
        for (const before of await installations.listInstalledRows(tx, id)) {
          const { bot_id: botId, alias, name } = before
          await installations.deleteInstallation(tx, botId, alias)
          await domainEvents.raise(tx, 'installations.changed', { botId, changes: [{ before }] })
          await domainEvents.raise(tx, 'installation.withdrawn', { botId, alias, name })
          others.add(botId)
        }
      }
      return others
    },
  }
}
