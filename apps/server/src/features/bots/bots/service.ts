import { setTimeout as sleep } from 'node:timers/promises'
import type { contract, Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { onlyTakesAway } from '../../../domain/patches.js'
import type { Port, Ports } from '../../../domain/ports.js'
import { fieldError, notFound } from '../../../domain/refusals.js'
import {
  allBotsOf,
  type BotScope,
  reaches,
  requireAllWorkspaces,
  requirePermission,
} from '../../../domain/rights.js'
import { bound } from '../../../platform/bound.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Database } from '../../../platform/db/engine.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import { newSigningSecret } from '../../../platform/ids.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { changesBetween, fieldsOf, recordAct } from '../../tenancy/audit/index.js'
import type { Meter } from '../../tenancy/metering/index.js'
import { holdWorkspace, type WorkspacesService } from '../../tenancy/workspaces/index.js'
import { rotateSigningSecret } from '../definitions/index.js'
import {
  type DeploymentsService,
  orAbandon,
  type PreparedDeployment,
} from '../deployments/index.js'
import * as installations from '../installations/index.js'
import type { PluginsService } from '../plugins/index.js'
import { type BotProfile, wantsOf } from './bot-profile.js'
import { type BotPatch, changesOf, type NewBot, newBot } from './changes.js'
import { type BotContent, patchTo } from './content.js'
import {
  type BotDefinition,
  emptyDefinition,
  logPatternsOfBot,
  patchDefinition,
} from './definition.js'
import { createInstalling, type InstallingDeps } from './installing.js'
import { botLookups } from './lookups.js'
import type { BotRecord, ReadRecurringHealth } from './record.js'
import { createBotsRevision } from './revision.js'
import * as store from './store.js'

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    'bot.created': { botId: string }
    /** A bot or one of its installations was changed or removed: caches of it are stale. */
    'bot.changed': { botId: string }
    /** A bot was deleted; a later job deletes its rows. */
    'bot.removed': { botId: string }
    /** A bot is about to move to another workspace; subscribers add the hashes of its code, which is copied before. */
    'bot.transferring': { botId: string; bundles: Set<string> }
    /** A bot moves to another workspace; subscribers move their rows of it. Its row is moved and locked. */
    'bot.transferred': BotTransfer
    /** A bot got an address, or new code. */
    'bot.deployed': { botId: string }
    /** A bot that could not be called now can; `wants` returns whether it wants events of a type. */
    'bot.addressed': { botId: string; wants: BotProfile['wants'] }
    /** The recurring events that a bot declares were replaced. */
    'bot.recurringEventsDeclared': { botId: string; declared: BotDefinition['recurringEvents'] }
    /** Installations of a bot are created, changed or removed. */
    'installations.changed': {
      botId: string
      changes: readonly installations.InstallationChange[]
    }
    /** An integration left a bot of another workspace, because its own workspace was deleted. */
    'installation.withdrawn': { botId: string; alias: string; name: string }
  }
}

/** The move of a bot between two workspaces. */
export interface BotTransfer {
  botId: string
  from: string
  to: string
  /** The account that moves it. */
  accountId: string
}

type BotListQuery = Query<typeof contract.bots.list>

export interface BotsDeps extends Omit<InstallingDeps, 'plugins'> {
  ports: Pick<Ports, 'open'>
  db: Db
  run: Run
  clock: Clock
  log: Pick<Log, 'warn'>
  pager: Pager
  queue: Queue
  database: Pick<Database, 'foreignChanges'>
  plugins: { service: Pick<PluginsService, 'removeAll'>; inBots: InstallingDeps['plugins'] }
  deployments: Pick<DeploymentsService, 'prepare' | 'insert' | 'suspend' | 'copyBundle'>
  workspaces: Pick<WorkspacesService, 'requireTarget'>
  meter: Pick<Meter, 'requireRoomFor'>
}

/** The parts of the service that its functions use. */
interface BotParts extends BotsDeps {
  installing: ReturnType<typeof createInstalling>
  recurringHealth: Port<ReadRecurringHealth>
  revision: ReturnType<typeof createBotsRevision>
}

/** The change to make of a bot as it is. */
type PatchOf = (record: BotRecord) => BotPatch

/** Name of the job that removes what a deleted bot leaves behind. */
export const purgeBotJob = 'bots.purge'

/** Milliseconds that a request which changes an installation waits for its registration. */
const registrationPatienceMs = 3000
const pollMs = 25

/** Milliseconds: other processes cache a bot for five seconds and may still write until then. */
const purgeDelay = 10_000

export type BotsService = ReturnType<typeof createBotsService>

/**
 * Joins the operations of bots for people, and the reads of them for other slices. Operations
 * with an actor throw `ResourceNotFound` for a bot outside of the actor's workspace.
 */
export function createBotsService(deps: BotsDeps) {
  const { ports } = deps
  const installing = createInstalling({ ...deps, plugins: deps.plugins.inBots })
  const recurringHealth = ports.open<ReadRecurringHealth>('bots: the health of recurring events')
  const revision = createBotsRevision(() => deps.database.foreignChanges())

  return {
    ...botLookups(deps),
    ...bound(
      { ...deps, installing, recurringHealth, revision },
      {
        list: listBots,
        revisionOf,
        get: getBot,
        create: createBot,
        update: updateBot,
        lock: lockBot,
        restore: restoreBot,
        rotateSigningSecret: rotateBotSecret,
        remove: removeBot,
        transfer: transferBot,
        removeAll: removeBots,
        raiseChanged,
      },
    ),
    recurringHealth,
  }
}

async function raiseChanged(
  { revision, domainEvents }: BotParts,
  tx: Tx,
  botId: string,
): Promise<void> {
  afterCommit(tx, revision.advance)
  await domainEvents.raise(tx, 'bot.changed', { botId })
}

async function requireBot(executor: Db | Tx, actor: WorkspaceActor, id: string) {
  const bot = await store.findBot(executor, actor.workspaceId, id)
  if (bot === undefined || !reaches(actor.rights, id))
    throw notFound('bot', id, 'in this workspace')
  return bot
}

async function loadBot(
  deps: BotParts,
  executor: Db | Tx,
  actor: WorkspaceActor,
  id: string,
): Promise<BotRecord> {
  const bot = await requireBot(executor, actor, id)
  const installed = await installations.listInstallations(executor, id)
  return {
    bot,
    installations: installed,
    integrations: await deps.installing.integrationsOf(
      executor,
      bot.workspace_id,
      installed.map((row) => row.integration_id),
    ),
    plugins: await deps.plugins.inBots.list(executor, bot.workspace_id, id),
    signingSecret: '',
    recurring: await deps.recurringHealth.call(executor, id),
  }
}

/** Starts the code that a new bot or a change of one deploys. */
async function prepareCode(
  { deployments }: BotsDeps,
  { id, workspaceId }: { id: string; workspaceId: string },
  current: Pick<store.BotRow, 'url' | 'deployment_id'>,
  patch: Pick<BotPatch, 'code' | 'url' | 'secrets'>,
  secrets: string,
): Promise<PreparedDeployment | undefined> {
  const owner = { type: 'bot', id } as const
  return await deployments.prepare({ workspaceId, owner }, current, patch, decodeJson(secrets))
}

/** Checks a change as its transaction will, before code of it runs. */
async function prepareUpdate(deps: BotParts, actor: WorkspaceActor, id: string, patchOf: PatchOf) {
  const record = await loadBot(deps, deps.db, actor, id)
  const patch = patchOf(record)
  const making = { now: isoTime(deps.clock.now()), sealer: deps.sealer, deployment: undefined }
  const { secrets } = changesOf(record.bot, patch, making)
  const workspaceId = actor.workspaceId
  return await prepareCode(deps, { id, workspaceId }, record.bot, patch, secrets)
}

/** Starts the code of a change, if it has any, and makes the change. */
async function changeBot(
  deps: BotParts,
  actor: WorkspaceActor,
  id: string,
  patchOf: PatchOf,
  deployment: PreparedDeployment | undefined,
  mayUseReserve: boolean,
): Promise<BotRecord> {
  const now = isoTime(deps.clock.now())
  return await orAbandon(deployment, () =>
    deps.run(
      async (tx) => {
        const current = await loadBot(deps, tx, actor, id)
        const patch = patchOf(current)
        const changes = changesOf(current.bot, patch, { now, sealer: deps.sealer, deployment })
        const definition = decodeJson<BotDefinition>(changes.definition)
        await store.patchBot(tx, actor.workspaceId, id, changes)
        logPatternsOfBot(tx, deps.log, id, definition)
        if (patch.recurringEvents) {
          const declared = definition.recurringEvents
          await deps.domainEvents.raise(tx, 'bot.recurringEventsDeclared', { botId: id, declared })
        }
        await deps.installing.change(tx, current.bot, patch, now)
        if (deployment) await deps.deployments.insert(tx, deployment, current.bot)
        else await deps.deployments.suspend(tx, current.bot, changes)
        if (!isCallable(current.bot) && isCallable({ ...current.bot, ...changes })) {
          const wants = wantsOf(definition)
          await deps.domainEvents.raise(tx, 'bot.addressed', { botId: id, wants })
        }
        if (changes.deployed_at) await deps.domainEvents.raise(tx, 'bot.deployed', { botId: id })
        await raiseChanged(deps, tx, id)
        const after = await loadBot(deps, tx, actor, id)
        const [from, to] = [withPlainUrl(current.bot), withPlainUrl(after.bot)]
        const named = changesBetween(from, to, ['name', 'url', 'always_alive'])
        recordAct(deps, tx, actor, {
          resourceId: id,
          resourceName: current.bot.name,
          changes: { ...fieldsOf(patch), ...named },
        })
        return after
      },
      { mayUseReserve },
    ),
  )
}

/** @throws ApiError `QuotaExceeded` if a workspace has as many bots as it may have */
async function requireRoom({ meter }: BotParts, tx: Tx, workspaceId: string): Promise<void> {
  await meter.requireRoomFor(tx, workspaceId, 'bot_count', async () => {
    return (await store.countBots(tx, [workspaceId])).get(workspaceId) ?? 0
  })
}

async function removeBotIn(
  deps: BotParts,
  tx: Tx,
  workspaceId: string,
  id: string,
): Promise<boolean> {
  if (!(await store.deleteBot(tx, workspaceId, id))) return false
  await deps.installing.removeOf(tx, id, workspaceId)
  const runAt = deps.clock.now() + purgeDelay
  await deps.queue.enqueue(tx, { kind: purgeBotJob, key: id, payload: { botId: id }, runAt })
  await deps.domainEvents.raise(tx, 'bot.removed', { botId: id })
  await raiseChanged(deps, tx, id)
  return true
}

/** Waits a moment until no registration of a bot is under way. */
async function untilRegistered({ db }: BotsDeps, botId: string): Promise<void> {
  const deadline = performance.now() + registrationPatienceMs
  while (performance.now() < deadline) {
    const statuses = await installations.listRegistrationStatuses(db, botId)
    if (!statuses.some((status) => status.endsWith('_pending'))) return
    await sleep(pollMs)
  }
}

async function listBots(
  deps: BotsDeps,
  actor: WorkspaceActor,
  query: BotListQuery,
): Promise<Page<store.BotSummaryRow>> {
  const { nextToken, pageSize, sortField, sortDirection, ...filter } = query
  return await store.pageBots(
    deps.db,
    actor,
    {
      dev: filter.dev ?? (filter.ids === undefined ? false : undefined),
      name: filter.name,
      ids: filter.ids,
      tags: filter.tags ?? {},
      integrationNames: filter.integrationNames ?? [],
      pluginNames: filter.pluginNames ?? [],
    },
    deps.pager.page({
      operation: 'listBots',
      scope: actor.workspaceId,
      filter,
      sort: sortField === 'updatedAt' ? 'updated_at' : 'created_at',
      direction: sortDirection ?? 'desc',
      nextToken,
      pageSize,
    }),
  )
}

/**
 * Identifies the state of the bots of a workspace: every list of them stays the same while it
 * does. Undefined where changes by other processes cannot be noticed, and for members who do not see all bots.
 */
function revisionOf({ revision }: BotParts, { workspaceId, rights }: BotScope): string | undefined {
  if (rights.bots.kind !== 'all') return undefined
  const current = revision.current()
  return current && `${workspaceId} ${current}`
}

async function getBot(deps: BotParts, actor: WorkspaceActor, id: string): Promise<BotRecord> {
  return await loadBot(deps, deps.db, actor, id)
}

async function createBot(
  deps: BotParts,
  actor: WorkspaceActor,
  input: NewBot,
  remember: Remember<BotRecord>,
): Promise<BotRecord> {
  const id = deps.ids.uuid()
  const now = isoTime(deps.clock.now())
  const signingSecret = newSigningSecret()
  const definition = patchDefinition(emptyDefinition, input)
  const making = {
    id,
    workspaceId: actor.workspaceId,
    accountId: actor.accountId,
    definition,
    signingSecret,
    now,
    sealer: deps.sealer,
  }
  const { secrets } = newBot(input, { ...making, deployment: undefined })
  const undeployed = { url: null, deployment_id: null }
  const deployment = await prepareCode(deps, making, undeployed, input, secrets)
  const bot = newBot(input, { ...making, deployment })
  const chat = installations.newChatInstallation({
    botId: id,
    workspaceId: actor.workspaceId,
    webhookId: deps.ids.uuid(),
    now,
    sealer: deps.sealer,
  })
  return await orAbandon(deployment, () =>
    deps.run(async (tx) => {
      await holdWorkspace(tx, actor)
      await requireRoom(deps, tx, actor.workspaceId)
      await store.insertBot(tx, bot)
      logPatternsOfBot(tx, deps.log, id, definition)
      await installations.insertInstallation(tx, chat)
      await deps.domainEvents.raise(tx, 'bot.created', { botId: id })
      if (input.recurringEvents) {
        const declared = definition.recurringEvents
        await deps.domainEvents.raise(tx, 'bot.recurringEventsDeclared', { botId: id, declared })
      }
      if (deployment) await deps.deployments.insert(tx, deployment, undeployed)
      if (bot.deployed_at !== null) await deps.domainEvents.raise(tx, 'bot.deployed', { botId: id })
      const made = {
        bot,
        installations: [chat],
        integrations: installations.builtInEntries,
        plugins: [],
        signingSecret,
        recurring: new Map(),
      }
      await remember?.(tx, made)
      recordAct(deps, tx, actor, {
        resourceId: id,
        resourceName: bot.name,
        changes: fieldsOf(input),
      })
      await raiseChanged(deps, tx, id)
      return made
    }),
  )
}

async function updateBot(
  deps: BotParts,
  actor: WorkspaceActor,
  id: string,
  patch: BotPatch,
): Promise<BotRecord> {
  const patchOf = () => patch
  const isDeploying = patch.code !== undefined || patch.secrets !== undefined
  const deployment = isDeploying ? await prepareUpdate(deps, actor, id, patchOf) : undefined
  const updated = await changeBot(deps, actor, id, patchOf, deployment, onlyTakesAway(patch))
  const pending = updated.installations.some(({ status }) => status.endsWith('_pending'))
  if (patch.integrations === undefined || !pending) return updated
  // Most integrations register at once, so that the response already contains the result.
  await untilRegistered(deps, id)
  return await loadBot(deps, deps.db, actor, id)
}

/** The bot, which nobody else changes until the transaction ends. */
async function lockBot(
  deps: BotParts,
  tx: Tx,
  actor: WorkspaceActor,
  id: string,
): Promise<BotRecord> {
  await store.lockBot(tx, actor.workspaceId, id)
  return await loadBot(deps, tx, actor, id)
}

/** Puts code into force with what belonged to it, as an update with `code` does. */
async function restoreBot(
  deps: BotParts,
  actor: WorkspaceActor,
  id: string,
  { code, content }: { code: string; content: BotContent },
): Promise<BotRecord> {
  const patchOf: PatchOf = (record) => ({ ...patchTo(record, content, deps.sealer), code })
  return await changeBot(
    deps,
    actor,
    id,
    patchOf,
    await prepareUpdate(deps, actor, id, patchOf),
    false,
  )
}

/** Creates a signing secret and returns it; the previous one also signs for a day. */
async function rotateBotSecret(deps: BotParts, actor: WorkspaceActor, id: string): Promise<string> {
  return await deps.run(
    async (tx) => {
      await store.lockBot(tx, actor.workspaceId, id)
      const bot = await requireBot(tx, actor, id)
      const { secret, stored } = rotateSigningSecret(
        deps.sealer,
        bot.signing_secret,
        deps.clock.now(),
      )
      await store.patchBot(tx, actor.workspaceId, id, {
        signing_secret: stored.current,
        previous_signing_secret: stored.previous,
        previous_secret_until: stored.previousUntil,
      })
      recordAct(deps, tx, actor, { resourceId: id, resourceName: bot.name })
      await raiseChanged(deps, tx, id)
      return secret
    },
    { mayUseReserve: true },
  )
}

/** A bot that the caller may take away from its workspace: everybody who makes bots does that with those that they made. */
async function requireRemovable(tx: Tx, actor: WorkspaceActor, id: string): Promise<store.BotRow> {
  const bot = await requireBot(tx, actor, id)
  if (bot.created_by !== actor.accountId) requirePermission(actor.rights, 'bots:manage')
  return bot
}

async function removeBot(deps: BotParts, actor: WorkspaceActor, id: string): Promise<void> {
  const remove = async (tx: Tx) => {
    const bot = await requireRemovable(tx, actor, id)
    recordAct(deps, tx, actor, { resourceId: id, resourceName: bot.name })
    // It was deleted or moved meanwhile.
    if (!(await removeBotIn(deps, tx, actor.workspaceId, id))) {
      throw notFound('bot', id, 'in this workspace')
    }
  }
  await deps.run(remove, { mayUseReserve: true })
}

/** Moves a bot with everything in it to another workspace of the caller. */
async function transferBot(
  deps: BotParts,
  actor: WorkspaceActor,
  id: string,
  to: string,
): Promise<void> {
  const { run, deployments, domainEvents, clock } = deps
  const { workspaceId: from, accountId } = actor
  const bundlesOf = async (tx: Tx): Promise<Set<string>> => {
    const bundles = new Set<string>()
    await domainEvents.raise(tx, 'bot.transferring', { botId: id, bundles })
    return bundles
  }
  const copied = await run(async (tx) => {
    await requireTransferable(deps, tx, actor, id, to)
    return await bundlesOf(tx)
  })
  // One in a transaction: all versions of a bot may have gigabytes, and others would wait for them.
  for (const hash of copied) await run((tx) => deployments.copyBundle(tx, hash, { from, to }))
  await run(async (tx) => {
    const bot = await requireTransferable(deps, tx, actor, id, to)
    for (const hash of await bundlesOf(tx)) {
      if (!copied.has(hash)) await deployments.copyBundle(tx, hash, { from, to })
    }
    await requireRoom(deps, tx, to)
    await deps.installing.move(tx, id, to)
    await store.moveBot(tx, id, { from, to }, isoTime(clock.now()))
    await domainEvents.raise(tx, 'bot.transferred', { botId: id, from, to, accountId })
    await raiseChanged(deps, tx, id)
    const act = {
      resourceId: id,
      resourceName: bot.name,
      changes: { workspaceId: { from, to } },
    }
    for (const workspaceId of [from, to]) recordAct(deps, tx, actor, { ...act, workspaceId })
  })
}

/** A bot that the caller may move to another workspace. It is locked, and both workspaces are kept, until the transaction ends. */
async function requireTransferable(
  deps: BotParts,
  tx: Tx,
  actor: WorkspaceActor,
  id: string,
  to: string,
): Promise<store.BotRow> {
  // Keeps the workspace, as creations do. A deletion of a workspace locks it before its bots.
  await holdWorkspace(tx, actor)
  // Every writer of a row with a workspace id holds the bot first, so it sees the new workspace after the transfer.
  await store.lockBot(tx, actor.workspaceId, id)
  const bot = await requireRemovable(tx, actor, id)
  requireAllWorkspaces(actor.rights)
  const field = 'body.targetWorkspaceId'
  if (to === actor.workspaceId) {
    throw fieldError(field, 'must be another workspace than that of the bot.')
  }
  await deps.workspaces.requireTarget(tx, actor, { id: to, field, permission: 'bots:write' })
  return bot
}

/**
 * Removes every bot, plugin and integration of a workspace in the transaction that removes the workspace. Bots
 * of others lose its integrations. They keep its plugins, which are part of their code.
 */
async function removeBots(deps: BotParts, tx: Tx, workspaceId: string): Promise<void> {
  for (const id of await store.listBotIds(tx, allBotsOf(workspaceId))) {
    await removeBotIn(deps, tx, workspaceId, id)
  }
  // Rows are locked in the same order everywhere: bots before plugins before integrations.
  await deps.plugins.service.removeAll(tx, workspaceId)
  const others = await deps.installing.removeIntegrations(tx, workspaceId)
  for (const botId of others) await raiseChanged(deps, tx, botId)
}

/** Whether events reach a bot: it has an address, or code that runs here. */
function isCallable({ url, deployment_id }: Pick<store.BotRow, 'url' | 'deployment_id'>): boolean {
  return url !== null || deployment_id !== null
}

/** A bot whose address has no password and no query, which may contain secrets. */
function withPlainUrl<Row extends { url: string | null }>(bot: Row): Row {
  if (bot.url === null || !URL.canParse(bot.url)) return bot
  const { origin, pathname } = new URL(bot.url)
  return { ...bot, url: `${origin}${pathname}` }
}
