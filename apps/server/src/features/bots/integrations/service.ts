import { ApiError, type contract, type Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { notFound } from '../../../domain/refusals.js'
import { reaches } from '../../../domain/rights.js'
import { bound } from '../../../platform/bound.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import { type Ids, newSigningSecret } from '../../../platform/ids.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { fieldsOf, recordAct } from '../../tenancy/audit/index.js'
import type { Meter } from '../../tenancy/metering/index.js'
import { holdWorkspace, type WorkspacesService } from '../../tenancy/workspaces/index.js'
import { highestOf, rotateSigningSecret, stillUsed } from '../definitions/index.js'
import {
  type DeploymentsService,
  orAbandon,
  type PreparedDeployment,
} from '../deployments/index.js'
import { findInstalledBot, listInstalledBots } from '../installations/index.js'
import type { InterfacesService, InterfaceUse } from '../interfaces/index.js'
import { changesOf, type IntegrationPatch, type NewIntegration, newIntegration } from './changes.js'
import { interfacesIn, logPatternsOfIntegration, readDefinition } from './definition.js'
import { integrationLookups } from './lookups.js'
import { createIntegrationPublishing, requireNotElsewhere } from './publishing.js'
import { createScriptChecks, type ScriptChecksDeps } from './scripts.js'
import * as store from './store.js'

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    /** It was created or changed: caches of it and of the bots in which it is installed are stale. */
    'integration.changed': { integrationId: string; installedIn: readonly string[] }
    'integration.removed': { integrationId: string; workspaceId: string; name: string }
  }
}

type ListQuery = Query<typeof contract.integrations.list>

/** An integration with its secret, in clear only in the response to its creation. */
export interface IntegrationRecord {
  integration: store.IntegrationRow
  signingSecret: string
}

export interface IntegrationsServiceDeps extends ScriptChecksDeps {
  meter: Pick<Meter, 'requireRoomFor'>
  db: Db
  run: Run
  dialect: Pick<Dialect, 'holdName'>
  clock: Clock
  log: Pick<Log, 'warn'>
  ids: Ids
  sealer: Sealer
  pager: Pager
  queue: Queue
  domainEvents: EventDispatcher
  workspaces: Pick<WorkspacesService, 'handleOf' | 'publishersOf'>
  interfaces: {
    service: Pick<InterfacesService, 'findUsable' | 'replaceUses' | 'removeUses'>
  }
  deployments: Pick<DeploymentsService, 'prepare' | 'insert' | 'suspend'>
}

/** The parts of the service that its functions use. */
interface IntegrationParts extends IntegrationsServiceDeps {
  publishing: ReturnType<typeof createIntegrationPublishing>
  scriptChecks: ReturnType<typeof createScriptChecks>
}

/** Name of the job that deletes the log of a removed integration; its key is the id. */
export const purgeIntegrationJob = 'integrations.purge'

/** Milliseconds: processes that remember the integration for five seconds may write lines until then. */
const purgeDelay = 10_000

/** Maximum number of bots whose caches are cleared at once; others notice a change within five seconds. */
const maxNotified = 1000

export type IntegrationsService = ReturnType<typeof createIntegrationsService>

/**
 * Joins the operations of integrations for their developers, and the reads of them for other slices.
 */
export function createIntegrationsService(deps: IntegrationsServiceDeps) {
  const { db, sealer } = deps
  const publishing = createIntegrationPublishing(deps)
  const scriptChecks = createScriptChecks(deps)

  return {
    ...integrationLookups(db, sealer),
    ...bound(
      { ...deps, publishing, scriptChecks },
      {
        list: listIntegrations,
        get: getIntegration,
        getByName: getIntegrationByName,
        create: createIntegration,
        validateCreation,
        update: updateIntegration,
        validateUpdate,
        remove: removeIntegration,
        rotateSigningSecret: rotateIntegrationSecret,
        removeAll: removeIntegrations,
      },
    ),
  }
}

async function requireIntegration(
  executor: Db | Tx,
  { workspaceId }: WorkspaceActor,
  id: string,
): Promise<store.IntegrationRow> {
  const found = await store.findIntegration(executor, workspaceId, id)
  if (found === undefined) throw notFound('integration', id, 'in this workspace')
  return found
}

/** Locked until the transaction ends: who installs it waits for a change that may forbid that. */
async function lockIntegration(tx: Tx, { workspaceId }: WorkspaceActor, id: string) {
  const found = await store.lockIntegration(tx, workspaceId, id)
  if (found === undefined) throw notFound('integration', id, 'in this workspace')
  return found
}

function logPatterns(deps: IntegrationsServiceDeps, tx: Tx, id: string, definition: string): void {
  logPatternsOfIntegration(tx, deps.log, id, readDefinition(definition))
}

async function usableIn(
  deps: IntegrationsServiceDeps,
  executor: Db | Tx,
  { workspaceId }: WorkspaceActor,
  patch: IntegrationPatch,
) {
  return await deps.interfaces.service.findUsable(executor, workspaceId, interfacesIn(patch))
}

async function recordInterfaces(
  deps: IntegrationsServiceDeps,
  tx: Tx,
  row: store.IntegrationRow,
): Promise<void> {
  const user = { workspaceId: row.workspace_id, id: row.id }
  await deps.interfaces.service.replaceUses(tx, user, interfacesOf(row))
}

async function raiseChanged(
  { domainEvents }: IntegrationsServiceDeps,
  tx: Tx,
  integrationId: string,
): Promise<void> {
  const installedIn = await listInstalledBots(tx, integrationId, maxNotified)
  await domainEvents.raise(tx, 'integration.changed', { integrationId, installedIn })
}

/** Deletes the log in a job: with many lines, the transaction would block others for long. */
async function enqueuePurge(
  deps: IntegrationsServiceDeps,
  tx: Tx,
  integrationId: string,
): Promise<void> {
  const payload = { integrationId }
  const runAt = deps.clock.now() + purgeDelay
  await deps.queue.enqueue(tx, { kind: purgeIntegrationJob, key: integrationId, payload, runAt })
}

async function requireFree(executor: Db | Tx, row: store.IntegrationRow): Promise<void> {
  if (row.dev === 1) return
  const versions = await store.listVersions(executor, row.workspace_id, row.name)
  if (versions.some(({ version }) => version === row.version)) throw taken(row)
}

/** Starts the code that a new integration or a change of one deploys; one in development runs at its `url`. */
async function prepareCode(
  { deployments }: IntegrationsServiceDeps,
  { id, dev, workspace_id: workspaceId }: store.IntegrationRow,
  current: Pick<store.IntegrationRow, 'url' | 'deployment_id'>,
  patch: Pick<IntegrationPatch, 'code' | 'url' | 'secrets'>,
  secrets: string,
): Promise<PreparedDeployment | undefined> {
  if (dev === 1) return undefined
  const owner = { type: 'integration', id } as const
  return await deployments.prepare({ workspaceId, owner }, current, patch, decodeJson(secrets))
}

/** Checks a change as its transaction will, before code of it runs. */
async function prepareUpdate(
  deps: IntegrationsServiceDeps,
  actor: WorkspaceActor,
  id: string,
  patch: IntegrationPatch,
) {
  if (patch.code === undefined && patch.secrets === undefined) return undefined
  const current = await requireIntegration(deps.db, actor, id)
  const interfaces = await usableIn(deps, deps.db, actor, patch)
  const change = {
    now: isoTime(deps.clock.now()),
    sealer: deps.sealer,
    interfaces,
    deployment: undefined,
  }
  return await prepareCode(deps, current, current, patch, changesOf(current, patch, change).secrets)
}

async function listIntegrations(
  deps: IntegrationsServiceDeps,
  actor: WorkspaceActor,
  query: ListQuery,
): Promise<Page<store.IntegrationSummaryRow>> {
  const { nextToken, pageSize, limit, sortBy = 'createdAt', direction, ...filter } = query
  // Integrations are never verified here.
  const { verificationStatus = 'unapproved' } = filter
  if (verificationStatus !== 'unapproved') return { rows: [], nextToken: undefined }
  const { installedByBotId } = filter
  if (installedByBotId !== undefined && !reaches(actor.rights, installedByBotId)) {
    return { rows: [], nextToken: undefined }
  }
  return await store.pageIntegrations(
    deps.db,
    actor.workspaceId,
    {
      dev: filter.dev ?? false,
      name: filter.name,
      version: filter.version,
      visibility: filter.visibility,
      installedByBotId,
      interfaceId: filter.interfaceId,
      interfaceName: filter.interfaceName,
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
}

async function getIntegration(
  { db }: IntegrationsServiceDeps,
  actor: WorkspaceActor,
  id: string,
): Promise<IntegrationRecord> {
  return { integration: await requireIntegration(db, actor, id), signingSecret: '' }
}

/** The highest version of a name that matches: an exact version, `latest` or a range. */
async function getIntegrationByName(
  { db }: IntegrationsServiceDeps,
  actor: WorkspaceActor,
  name: string,
  version: string,
): Promise<IntegrationRecord> {
  const versions = await store.listVersions(db, actor.workspaceId, name)
  const found = highestOf(versions, version)
  if (found !== undefined) {
    return { integration: await requireIntegration(db, actor, found.id), signingSecret: '' }
  }
  throw notFound('integration', `${name} of version ${version}`, 'in this workspace')
}

/** An integration in the audit log. */
function named({ id, name, version }: Pick<store.IntegrationRow, 'id' | 'name' | 'version'>) {
  return { resourceId: id, resourceName: `${name} ${version}` }
}

async function createIntegration(
  deps: IntegrationParts,
  actor: WorkspaceActor,
  input: NewIntegration,
  remember: Remember<IntegrationRecord>,
): Promise<IntegrationRecord> {
  const signingSecret = newSigningSecret()
  const usable = await usableIn(deps, deps.db, actor, input)
  const made = newIntegration(actor, input, { ...deps, interfaces: usable, signingSecret })
  await deps.publishing.requireOwn(deps.db, made)
  await requireFree(deps.db, made)
  const faults = await deps.scriptChecks.check(actor, input)
  const deployment = await prepareCode(deps, made, made, input, made.secrets)
  const row = { ...made, deployment_id: deployment?.id ?? null }
  return await orAbandon(deployment, () =>
    deps.run(async (tx) => {
      await holdWorkspace(tx, actor)
      await deps.meter.requireRoomFor(
        tx,
        actor.workspaceId,
        'integrations_owned_count',
        async () => {
          return (await store.listIds(tx, actor.workspaceId)).length
        },
      )
      await deps.publishing.requireNew(tx, row)
      if (!(await store.insertIntegration(tx, row))) throw taken(row)
      await recordInterfaces(deps, tx, row)
      if (deployment) await deps.deployments.insert(tx, deployment, made)
      logPatterns(deps, tx, row.id, row.definition)
      const record = { integration: row, signingSecret }
      await remember?.(tx, record)
      await raiseChanged(deps, tx, row.id)
      deps.scriptChecks.report(tx, row.id, faults)
      recordAct(deps, tx, actor, { ...named(row), changes: fieldsOf(input) })
      return record
    }),
  )
}

/** Checks a creation in a transaction, as the creation would. */
async function validateCreation(
  deps: IntegrationParts,
  actor: WorkspaceActor,
  input: NewIntegration,
): Promise<void> {
  await deps.scriptChecks.check(actor, input)
  await deps.run(async (tx) => {
    const usable = await usableIn(deps, tx, actor, input)
    const row = newIntegration(actor, input, { ...deps, interfaces: usable, signingSecret: '' })
    await deps.publishing.requireNew(tx, row)
    await requireFree(tx, row)
  })
}

async function updateIntegration(
  deps: IntegrationParts,
  actor: WorkspaceActor,
  id: string,
  patch: IntegrationPatch,
): Promise<IntegrationRecord> {
  const faults = await deps.scriptChecks.check(
    actor,
    patch,
    await requireIntegration(deps.db, actor, id),
  )
  const deployment = await prepareUpdate(deps, actor, id, patch)
  return await orAbandon(deployment, () =>
    deps.run(async (tx) => {
      const current = await lockIntegration(tx, actor, id)
      const now = isoTime(deps.clock.now())
      const usable = await usableIn(deps, tx, actor, patch)
      const changes = changesOf(current, patch, {
        now,
        sealer: deps.sealer,
        interfaces: usable,
        deployment,
      })
      const integration = { ...current, ...changes }
      await deps.publishing.requireVisibility(tx, current, integration, () =>
        requireNotElsewhere(tx, integration),
      )
      await store.patchIntegration(tx, actor.workspaceId, id, changes)
      if (patch.interfaces) await recordInterfaces(deps, tx, integration)
      if (deployment) await deps.deployments.insert(tx, deployment, current)
      else await deps.deployments.suspend(tx, current, changes)
      logPatterns(deps, tx, id, changes.definition)
      await raiseChanged(deps, tx, id)
      deps.scriptChecks.report(tx, id, faults)
      recordAct(deps, tx, actor, { ...named(current), changes: fieldsOf(patch) })
      return { integration, signingSecret: '' }
    }),
  )
}

/** Checks an update in a transaction, as the update would. */
async function validateUpdate(
  deps: IntegrationParts,
  actor: WorkspaceActor,
  id: string,
  patch: IntegrationPatch,
) {
  await deps.scriptChecks.check(actor, patch, await requireIntegration(deps.db, actor, id))
  await deps.run(async (tx) => {
    const current = await requireIntegration(tx, actor, id)
    const change = {
      now: isoTime(deps.clock.now()),
      sealer: deps.sealer,
      interfaces: await usableIn(deps, tx, actor, patch),
      deployment: undefined,
    }
    const next = { ...current, ...changesOf(current, patch, change) }
    await deps.publishing.requireVisibility(tx, current, next, () => requireNotElsewhere(tx, next))
  })
}

async function removeIntegration(
  deps: IntegrationsServiceDeps,
  actor: WorkspaceActor,
  id: string,
): Promise<void> {
  await deps.run(
    async (tx) => {
      const current = await lockIntegration(tx, actor, id)
      const { name, workspace_id: workspaceId } = current
      recordAct(deps, tx, actor, named(current))
      const place = { integrationId: id, workspaceId }
      const botId = await findInstalledBot(tx, place, 'here')
      if (botId !== undefined) {
        const example = reaches(actor.rights, botId) ? `, for example in the bot ${botId}` : ''
        const how = `is still installed${example}`
        throw stillUsed(`integration ${id}`, how)
      }
      if ((await findInstalledBot(tx, place, 'elsewhere')) !== undefined) {
        throw stillUsed(`integration ${id}`, 'is still installed in bots of other workspaces')
      }
      await store.deleteIntegration(tx, workspaceId, id)
      await deps.interfaces.service.removeUses(tx, { workspaceId, id })
      await enqueuePurge(deps, tx, id)
      const removed = { integrationId: id, workspaceId, name }
      await deps.domainEvents.raise(tx, 'integration.removed', removed)
      await raiseChanged(deps, tx, id)
    },
    { mayUseReserve: true },
  )
}

/** Creates a signing secret and returns it; the previous one also signs for a day. */
async function rotateIntegrationSecret(
  deps: IntegrationsServiceDeps,
  actor: WorkspaceActor,
  id: string,
): Promise<string> {
  return await deps.run(
    async (tx) => {
      const current = await requireIntegration(tx, actor, id)
      const now = deps.clock.now()
      const { secret, stored } = rotateSigningSecret(deps.sealer, current.signing_secret, now)
      await store.patchIntegration(tx, actor.workspaceId, id, {
        signing_secret: stored.current,
        former_secret: stored.previous,
        former_secret_until: stored.previousUntil,
        updated_at: isoTime(now),
      })
      recordAct(deps, tx, actor, named(current))
      await raiseChanged(deps, tx, id)
      return secret
    },
    { mayUseReserve: true },
  )
}

/**
 * Removes every integration of a workspace, after its bots, in the transaction that removes it.
 * @returns their ids
 */
async function removeIntegrations(
  deps: IntegrationsServiceDeps,
  tx: Tx,
  workspaceId: string,
): Promise<string[]> {
  const ids = await store.deleteOfWorkspace(tx, workspaceId)
  for (const id of ids) await enqueuePurge(deps, tx, id)
  return ids
}

/** Column of each sort field of a list. */
export const sortColumns = {
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  name: 'name',
  popularity: 'installs',
  installCount: 'installs',
} as const

/** The interfaces that an integration implements, as their slice records them. */
function interfacesOf({ definition }: store.IntegrationRow): InterfaceUse[] {
  return Object.entries(readDefinition(definition).interfaces).map(([alias, { id, name }]) => ({
    alias,
    interface_id: id,
    interface_name: name,
  }))
}

function taken({ name, version }: store.IntegrationRow): ApiError {
  return new ApiError(
    'AlreadyExists',
    `body.version: there is an integration ${name} of version ${version} in this workspace; update it, or give a new version.`,
  )
}
