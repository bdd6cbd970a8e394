import { ApiError, type contract, type Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import { type Ids, newSigningSecret } from '../../../platform/ids.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { WorkspacesService } from '../../tenancy/workspaces/index.js'
import { rotateSigningSecret } from '../definitions/index.js'
import {
  type InstallableIntegration,
  type InstallationKey,
  listInstallationsOf,
  listInstalledBots,
} from '../installations/index.js'
import {
  changesOf,
  highestOf,
  type IntegrationPatch,
  type NewIntegration,
  newIntegration,
  requireOwnHandle,
} from './changes.js'
import { type IntegrationDefinition, logPatternsOfIntegration } from './definition.js'
import * as store from './store.js'
import { toInstallable } from './view.js'

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    /** Caches of the integration and of the bots in which it is installed are stale. */
    'integration.changed': { integrationId: string; installedIn: readonly string[] }
    'integration.removed': { integrationId: string }
  }
}

type ListQuery = Query<typeof contract.integrations.list>

/** An integration with its secret, in clear only in the response to its creation. */
export interface IntegrationRecord {
  integration: store.IntegrationRow
  signingSecret: string
}

export interface IntegrationsServiceDeps {
  db: Db
  run: Run
  clock: Clock
  log: Pick<Log, 'warn'>
  ids: Ids
  sealer: Sealer
  pager: Pager
  queue: Queue
  domainEvents: EventDispatcher
  workspaces: Pick<WorkspacesService, 'handleOf'>
}

/** Name of the job that deletes the log of a removed integration; its key is the id. */
export const purgeIntegrationJob = 'integrations.purge'

/** Most bots whose caches are cleared at once; others notice a change within five seconds. */
const mostNotified = 1000

export type IntegrationsService = ReturnType<typeof createIntegrationsService>

/**
 * Makes the service of integrations: what their developers do with them, and the lookups for
 * installing them in bots.
 */
export function createIntegrationsService(deps: IntegrationsServiceDeps) {
  const { db, run, clock, sealer, domainEvents } = deps

  async function require(
    executor: Db | Tx,
    { workspaceId }: WorkspaceActor,
    id: string,
  ): Promise<store.IntegrationRow> {
    const found = await store.findIntegration(executor, workspaceId, id)
    if (found === undefined) {
      throw new ApiError('ResourceNotFound', `There is no integration ${id} in this workspace.`)
    }
    return found
  }

  function logPatterns(tx: Tx, id: string, definition: string): void {
    logPatternsOfIntegration(tx, deps.log, id, decodeJson<IntegrationDefinition>(definition))
  }

  async function raiseChanged(tx: Tx, integrationId: string): Promise<void> {
    const installedIn = await listInstalledBots(tx, integrationId, mostNotified)
    await domainEvents.raise(tx, 'integration.changed', { integrationId, installedIn })
  }

  /** Deletes the log in a job: with many lines, the transaction would block others for long. */
  async function enqueuePurge(tx: Tx, integrationId: string): Promise<void> {
    const payload = { integrationId }
    await deps.queue.enqueue(tx, { kind: purgeIntegrationJob, key: integrationId, payload })
  }

  async function requireOwn(executor: Db | Tx, { name, workspace_id }: store.IntegrationRow) {
    // Most names have no handle and need no read.
    if (!name.includes('/')) return
    requireOwnHandle(name, await deps.workspaces.handleOf(executor, workspace_id))
  }

  async function requireFree(executor: Db | Tx, row: store.IntegrationRow): Promise<void> {
    if (row.dev === 1) return
    const versions = await store.listVersions(executor, row.workspace_id, row.name)
    if (versions.some(({ version }) => version === row.version)) throw taken(row)
  }

  return {
    async list(
      actor: WorkspaceActor,
      query: ListQuery,
    ): Promise<Page<store.IntegrationSummaryRow>> {
      const { nextToken, pageSize, limit, sortBy = 'createdAt', direction, ...filter } = query
      // Interfaces cannot be declared, and integrations are never verified here.
      const { interfaceId, interfaceName, verificationStatus = 'unapproved' } = filter
      if (interfaceId || interfaceName || verificationStatus !== 'unapproved') {
        return { rows: [], nextToken: undefined }
      }
      return await store.pageIntegrations(
        db,
        actor.workspaceId,
        {
          dev: filter.dev ?? false,
          name: filter.name,
          version: filter.version,
          visibility: filter.visibility,
          installedByBotId: filter.installedByBotId,
          search: filter.search,
        },
        deps.pager.page({
          operation: 'listIntegrations',
          scope: actor.workspaceId,
          filter: { ...filter, sortBy },
          sort: sortColumns[sortBy],
          direction: direction ?? (sortBy === 'name' ? 'asc' : 'desc'),
          nextToken,
          pageSize: pageSize ?? limit,
        }),
      )
    },

    async get(actor: WorkspaceActor, id: string): Promise<IntegrationRecord> {
      return { integration: await require(db, actor, id), signingSecret: '' }
    },

    /** The highest version of a name that matches: an exact version, `latest` or a range. */
    async getByName(
      actor: WorkspaceActor,
      name: string,
      version: string,
    ): Promise<IntegrationRecord> {
      const versions = await store.listVersions(db, actor.workspaceId, name)
      const found = highestOf(versions, version)
      if (found !== undefined) {
        return { integration: await require(db, actor, found.id), signingSecret: '' }
      }
      throw new ApiError(
        'ResourceNotFound',
        `There is no integration ${name} of version ${version} in this workspace.`,
      )
    },

    async create(
      actor: WorkspaceActor,
      input: NewIntegration,
      remember: Remember<IntegrationRecord>,
    ): Promise<IntegrationRecord> {
      const signingSecret = newSigningSecret()
      const row = newIntegration(actor, input, { ...deps, signingSecret })
      return await run(async (tx) => {
        await requireOwn(tx, row)
        if (!(await store.insertIntegration(tx, row))) throw taken(row)
        logPatterns(tx, row.id, row.definition)
        const made = { integration: row, signingSecret }
        await remember?.(tx, made)
        return made
      })
    },

    async validateCreation(actor: WorkspaceActor, input: NewIntegration): Promise<void> {
      const row = newIntegration(actor, input, { ...deps, signingSecret: '' })
      await requireOwn(db, row)
      await requireFree(db, row)
    },

    async update(
      actor: WorkspaceActor,
      id: string,
      patch: IntegrationPatch,
    ): Promise<IntegrationRecord> {
      return await run(async (tx) => {
        const current = await require(tx, actor, id)
        const changes = changesOf(current, patch, isoTime(clock.now()), sealer)
        await store.patchIntegration(tx, actor.workspaceId, id, changes)
        logPatterns(tx, id, changes.definition)
        await raiseChanged(tx, id)
        return { integration: { ...current, ...changes }, signingSecret: '' }
      })
    },

    async validateUpdate(actor: WorkspaceActor, id: string, patch: IntegrationPatch) {
      const current = await require(db, actor, id)
      changesOf(current, patch, isoTime(clock.now()), sealer)
    },

    async remove(actor: WorkspaceActor, id: string): Promise<void> {
      await run(
        async (tx) => {
          await require(tx, actor, id)
          const [botId] = await listInstalledBots(tx, id, 1)
          if (botId !== undefined) {
            throw new ApiError(
              'ReferenceConstraint',
              `The integration ${id} is still installed, for example in the bot ${botId}.`,
            )
          }
          await store.deleteIntegration(tx, actor.workspaceId, id)
          await enqueuePurge(tx, id)
          await domainEvents.raise(tx, 'integration.removed', { integrationId: id })
          await raiseChanged(tx, id)
        },
        { mayUseReserve: true },
      )
    },

    /** Creates a signing secret and returns it; the previous one also signs for a day. */
    async rotateSigningSecret(actor: WorkspaceActor, id: string): Promise<string> {
      return await run(
        async (tx) => {
          const current = await require(tx, actor, id)
          const now = clock.now()
          const { secret, stored } = rotateSigningSecret(sealer, current.signing_secret, now)
          await store.patchIntegration(tx, actor.workspaceId, id, {
            signing_secret: stored.current,
            former_secret: stored.previous,
            former_secret_until: stored.previousUntil,
            updated_at: isoTime(now),
          })
          await raiseChanged(tx, id)
          return secret
        },
        { mayUseReserve: true },
      )
    },

    /** @param field path of the id in the request */
    async requireIn(actor: WorkspaceActor, id: string, field: string): Promise<void> {
      if (await store.findIntegration(db, actor.workspaceId, id)) return
      throw new ApiError(
        'ReferenceNotFound',
        `${field}: there is no integration ${id} in this workspace.`,
      )
    },

    /** The ids of all integrations of a workspace. */
    async idsIn(workspaceId: string): Promise<string[]> {
      return await store.listIds(db, workspaceId)
    },

    /** The bots and aliases under which an integration is installed. */
    async installationsOf(id: string): Promise<InstallationKey[]> {
      return await listInstallationsOf(db, id)
    },

    /** The given integrations that the bots of a workspace may install, by id. */
    async findInstallable(
      executor: Db | Tx,
      workspaceId: string,
      integrationIds: readonly string[],
    ): Promise<ReadonlyMap<string, InstallableIntegration>> {
      const rows = await store.listByIds(executor, workspaceId, integrationIds)
      return new Map(rows.map((row) => [row.id, toInstallable(row)]))
    },

    /** Counts installations that were created or removed. */
    async countInstalls(tx: Tx, id: string, by: number): Promise<void> {
      await store.countInstalls(tx, id, by)
    },

    /** Removes every integration of a workspace, after its bots, in the transaction that removes it. */
    async removeAll(tx: Tx, workspaceId: string): Promise<void> {
      for (const id of await store.deleteOfWorkspace(tx, workspaceId)) await enqueuePurge(tx, id)
    },
  }
}

const sortColumns = {
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  name: 'name',
  popularity: 'installs',
  installCount: 'installs',
} as const

function taken({ name, version }: store.IntegrationRow): ApiError {
  return new ApiError(
    'AlreadyExists',
    `body.version: there is an integration ${name} of version ${version} in this workspace; update it, or give a new version.`,
  )
}
