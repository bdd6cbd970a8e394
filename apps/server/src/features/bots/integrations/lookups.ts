import { ApiError } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import { countInstallation, countRemoval, highestOf } from '../definitions/index.js'
import { type HostedCode, toHostedCode } from '../deployments/index.js'
import {
  type InstallableIntegration,
  type InstallationKey,
  listInstallationsOf,
} from '../installations/index.js'
import { versionsInHub } from './built-in.js'
import { type IntegrationDefinition, readDefinition } from './definition.js'
import * as store from './store.js'
import { toInstallable } from './view.js'

/** An integration, and whether it declares scripts for an address that its installations share. */
export interface NamedIntegration {
  workspaceId: string
  name: string
  hasScripts: boolean
  /** Whether one of them says which account a request is about. */
  findsAccounts: boolean
  /** Whether a development tool made it. */
  isDev: boolean
}

/** Maximum number of integrations of one name that are looked at. */
const maxNamesakes = 100

function toNamed(row: {
  workspace_id: string
  name: string
  dev: number
  definition: string
}): NamedIntegration {
  const { extractScript, fallbackHandlerScript } = readDefinition(row.definition).identifier
  const findsAccounts = extractScript !== undefined
  return {
    workspaceId: row.workspace_id,
    name: row.name,
    hasScripts: findsAccounts || fallbackHandlerScript !== undefined,
    findsAccounts,
    isDev: row.dev === 1,
  }
}

/** The queries of other slices about integrations, and the counts of their installations. */
export function integrationLookups(db: Db, sealer: Sealer) {
  return {
    /** The code of an integration that runs here; undefined without one. */
    async findHosted(id: string): Promise<HostedCode | undefined> {
      const row = await store.findInstalled(db, id)
      return row && toHostedCode(sealer, 'integration', row)
    },

    /** The name and the workspace of an integration, whoever asks; undefined if it is gone. */
    async findNamed(executor: Db | Tx, id: string): Promise<NamedIntegration | undefined> {
      const row = await store.findInstalled(executor, id)
      return row && toNamed(row)
    },

    /** An integration, with the names of the states that it declares for itself; undefined if it is gone. */
    async findDeclaredStates(tx: Tx, id: string) {
      const row = await store.findInstalled(tx, id)
      if (row === undefined) return undefined
      const states = Object.entries(readDefinition(row.definition).states)
      const ofIntegration = states.flatMap(([name, { type }]) =>
        type === 'integration' ? [name] : [],
      )
      return { workspaceId: row.workspace_id, name: row.name, ofIntegration }
    },

    /**
     * Integrations with scripts for a shared address that have a name, also behind a handle: those of a workspace first,
     * and the oldest ones first.
     */
    async findNamesakes(
      executor: Db | Tx,
      of: { workspaceId: string; name: string },
    ): Promise<NamedIntegration[]> {
      const rows = await store.listNamesakes(executor, of, maxNamesakes)
      return rows.map(toNamed).filter(({ hasScripts }) => hasScripts)
    },

    /** All versions of a name in a workspace. */
    async versionsOf(
      executor: Db | Tx,
      of: { workspaceId: string; name: string },
    ): Promise<store.IntegrationVersionRow[]> {
      return await store.listAllVersions(executor, of)
    },

    /** @param field path of the id in the request */
    async requireIn(
      { workspaceId }: Pick<WorkspaceActor, 'workspaceId'>,
      id: string,
      field: string,
    ): Promise<void> {
      if (await store.findIntegration(db, workspaceId, id)) return
      throw new ApiError(
        'ReferenceNotFound',
        `${field}: there is no integration ${id} in this workspace.`,
      )
    },

    /**
     * Keeps an integration from being deleted until the transaction ends, which creates something that belongs to it.
     * @returns whether it is in the workspace
     */
    async hold(
      tx: Tx,
      { workspaceId }: Pick<WorkspaceActor, 'workspaceId'>,
      id: string,
    ): Promise<boolean> {
      return await store.keepIntegration(tx, workspaceId, id)
    },

    /** The ids of all integrations of a workspace. */
    async idsIn(workspaceId: string): Promise<string[]> {
      return await store.listIds(db, workspaceId)
    },

    /** The bots of a workspace, with the aliases, under which an integration is installed there. */
    async installationsIn(workspaceId: string, id: string): Promise<InstallationKey[]> {
      return await listInstallationsOf(db, { workspaceId, integrationId: id })
    },

    /** The given integrations that the bots of a workspace may install, by id: also those that others publish. */
    async findInstallable(
      executor: Db | Tx,
      workspaceId: string,
      integrationIds: readonly string[],
    ): Promise<ReadonlyMap<string, InstallableIntegration>> {
      const rows = await store.listUsable(executor, workspaceId, integrationIds)
      return new Map(rows.map((row) => [row.id, toInstallable(row)]))
    },

    /** The definitions of the given integrations, by id: those of a workspace, and those that others publish. */
    async findDefinitions(
      workspaceId: string,
      integrationIds: readonly string[],
    ): Promise<ReadonlyMap<string, IntegrationDefinition>> {
      const rows = await store.listUsable(db, workspaceId, integrationIds)
      return new Map(rows.map((row) => [row.id, readDefinition(row.definition)]))
    },

    /** The highest version of a name that a workspace may use: its own first, then of the hub. */
    async findUsableByName(
      executor: Db | Tx,
      workspaceId: string,
      name: string,
      version: string,
    ): Promise<{ id: string; version: string } | undefined> {
      const own = highestOf(await store.listVersions(executor, workspaceId, name), version)
      if (own !== undefined) return own
      return highestOf(await versionsInHub(executor, name), version)
    },

    /**
     * Counts an installation in a bot of a workspace. Throws `ReferenceNotFound` if the workspace may not use
     * the integration any more.
     */
    async countInstallation(tx: Tx, workspaceId: string, id: string): Promise<void> {
      if (await countInstallation(tx, 'integrations', { workspaceId, id })) return
      throw new ApiError('ReferenceNotFound', `There is no integration ${id}.`)
    },

    /**
     * Keeps an integration from being deleted or made private until the transaction ends.
     * @returns whether bots of the workspace may use it
     */
    keepUsable: store.keepUsable,

    /** Counts an installation that was removed. */
    countRemoval: (tx: Tx, id: string) => countRemoval(tx, 'integrations', id),
  }
}
