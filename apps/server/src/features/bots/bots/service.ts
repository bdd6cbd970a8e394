import { setTimeout as sleep } from 'node:timers/promises'
import type { contract, Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { onlyTakesAway } from '../../../domain/patches.js'
import type { Ports } from '../../../domain/ports.js'
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
import { holdWorkspace } from '../../tenancy/workspaces/index.js'
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
import { botLookups, unknownBot } from './lookups.js'
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
  deployments: Pick<DeploymentsService, 'prepare' | 'insert' | 'suspend'>
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
 * Makes the service of bots: what people do with them, and what other slices read of them. Methods
 * with an actor throw `ResourceNotFound` for a bot outside of the actor's workspace.
 */
export function createBotsService(deps: BotsDeps) {
  const { db, run, clock, ids, sealer, queue, domainEvents, deployments, ports } = deps
  const plugins = deps.plugins.inBots
  const installing = createInstalling({ ...deps, plugins })
  const recurringHealth = ports.open<ReadRecurringHealth>('bots: the health of recurring events')
  const revision = createBotsRevision(() => deps.database.foreignChanges())

  async function raiseChanged(tx: Tx, botId: string): Promise<void> {
    afterCommit(tx, revision.advance)
    await domainEvents.raise(tx, 'bot.changed', { botId })
  }

  async function require(executor: Db | Tx, actor: WorkspaceActor, id: string) {
    const bot = await store.findBot(executor, actor.workspaceId, id)
    if (bot === undefined) throw unknownBot(id)
    return bot
  }

  async function load(executor: Db | Tx, actor: WorkspaceActor, id: string): Promise<BotRecord> {
    const bot = await require(executor, actor, id)
    const installed = await installations.listInstallations(executor, id)
    return {
      bot,
      installations: installed,
      integrations: await installing.integrationsOf(
        executor,
        bot.workspace_id,
        installed.map((row) => row.integration_id),
      ),
      plugins: await plugins.list(executor, bot.workspace_id, id),
      signingSecret: '',
      recurring: await recurringHealth.call(executor, id),
    }
  }

  /** Starts the code that a new bot or a change of one deploys. */
  async function prepare(
    { id, workspaceId }: { id: string; workspaceId: string },
    current: Pick<store.BotRow, 'url' | 'deployment_id'>,
    patch: Pick<BotPatch, 'code' | 'url' | 'secrets'>,
    secrets: string,
  ): Promise<PreparedDeployment | undefined> {
    const owner = { type: 'bot', id } as const
    return await deployments.prepare({ workspaceId, owner }, current, patch, decodeJson(secrets))
  }

  /** Checks a change as its transaction will, before code of it runs. */
  async function prepareUpdate(actor: WorkspaceActor, id: string, patchOf: PatchOf) {
    const record = await load(db, actor, id)
    const patch = patchOf(record)
    const making = { now: isoTime(clock.now()), sealer, deployment: undefined }
    const { secrets } = changesOf(record.bot, patch, making)
    const workspaceId = actor.workspaceId
    return await prepare({ id, workspaceId }, record.bot, patch, secrets)
  }

  /** Starts the code of a change, if it has any, and makes the change. */
  async function change(
    actor: WorkspaceActor,
    id: string,
    patchOf: PatchOf,
    deployment: PreparedDeployment | undefined,
    mayUseReserve: boolean,
  ): Promise<BotRecord> {
    const now = isoTime(clock.now())
    return await orAbandon(deployment, () =>
      run(
        async (tx) => {
          const current = await load(tx, actor, id)
          const patch = patchOf(current)
          const changes = changesOf(current.bot, patch, { now, sealer, deployment })
          const definition = decodeJson<BotDefinition>(changes.definition)
          await store.patchBot(tx, actor.workspaceId, id, changes)
          logPatternsOfBot(tx, deps.log, id, definition)
          if (patch.recurringEvents) {
            const declared = definition.recurringEvents
            await domainEvents.raise(tx, 'bot.recurringEventsDeclared', { botId: id, declared })
          }
          await installing.change(tx, current.bot, patch, now)
          if (deployment) await deployments.insert(tx, deployment, current.bot)
          else await deployments.suspend(tx, current.bot, changes)
          if (!isCallable(current.bot) && isCallable({ ...current.bot, ...changes })) {
            const wants = wantsOf(definition)
            await domainEvents.raise(tx, 'bot.addressed', { botId: id, wants })
          }
          if (changes.deployed_at) await domainEvents.raise(tx, 'bot.deployed', { botId: id })
          await raiseChanged(tx, id)
          return await load(tx, actor, id)
        },
        { mayUseReserve },
      ),
    )
  }

  async function removeIn(tx: Tx, workspaceId: string, id: string): Promise<boolean> {
    if (!(await store.deleteBot(tx, workspaceId, id))) return false
    await installing.removeOf(tx, id, workspaceId)
    const runAt = clock.now() + purgeDelay
    await queue.enqueue(tx, { kind: purgeBotJob, key: id, payload: { botId: id }, runAt })
    await domainEvents.raise(tx, 'bot.removed', { botId: id })
    await raiseChanged(tx, id)
    return true
  }

  /** Waits a moment until no registration of a bot is under way. */
  async function untilRegistered(botId: string): Promise<void> {
    const deadline = performance.now() + registrationPatienceMs
    while (performance.now() < deadline) {
      const statuses = await installations.listRegistrationStatuses(db, botId)
      if (!statuses.some((status) => status.endsWith('_pending'))) return
      await sleep(pollMs)
    }
  }

  return {
    async list(actor: WorkspaceActor, query: BotListQuery): Promise<Page<store.BotSummaryRow>> {
      const { nextToken, pageSize, sortField, sortDirection, ...filter } = query
      return await store.pageBots(
        db,
        actor.workspaceId,
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
    },

    /**
     * Identifies the state of the bots of a workspace: every list of them stays the same while it
     * does. Undefined where changes by other processes cannot be noticed.
     */
    revisionOf(workspaceId: string): string | undefined {
      const current = revision.current()
      return current && `${workspaceId} ${current}`
    },

    async get(actor: WorkspaceActor, id: string): Promise<BotRecord> {
      return await load(db, actor, id)
    },

    async create(
      actor: WorkspaceActor,
      input: NewBot,
      remember: Remember<BotRecord>,
    ): Promise<BotRecord> {
      const id = ids.uuid()
      const now = isoTime(clock.now())
      const signingSecret = newSigningSecret()
      const definition = patchDefinition(emptyDefinition, input)
      const making = {
        id,
        workspaceId: actor.workspaceId,
        accountId: actor.accountId,
        definition,
        signingSecret,
        now,
        sealer,
      }
      const { secrets } = newBot(input, { ...making, deployment: undefined })
      const undeployed = { url: null, deployment_id: null }
      const deployment = await prepare(making, undeployed, input, secrets)
      const bot = newBot(input, { ...making, deployment })
      const chat = installations.newChatInstallation({
        botId: id,
        workspaceId: actor.workspaceId,
        webhookId: ids.uuid(),
        now,
        sealer,
      })
      return await orAbandon(deployment, () =>
        run(async (tx) => {
          await holdWorkspace(tx, actor)
          await store.insertBot(tx, bot)
          logPatternsOfBot(tx, deps.log, id, definition)
          await installations.insertInstallation(tx, chat)
          await domainEvents.raise(tx, 'bot.created', { botId: id })
          if (input.recurringEvents) {
            const declared = definition.recurringEvents
            await domainEvents.raise(tx, 'bot.recurringEventsDeclared', { botId: id, declared })
          }
          if (deployment) await deployments.insert(tx, deployment, undeployed)
          if (bot.deployed_at !== null) await domainEvents.raise(tx, 'bot.deployed', { botId: id })
          const made = {
            bot,
            installations: [chat],
            integrations: installations.builtInEntries,
            plugins: [],
            signingSecret,
            recurring: new Map(),
          }
          await remember?.(tx, made)
          await raiseChanged(tx, id)
          return made
        }),
      )
    },

    async update(actor: WorkspaceActor, id: string, patch: BotPatch): Promise<BotRecord> {
      const patchOf = () => patch
      const isDeploying = patch.code !== undefined || patch.secrets !== undefined
      const deployment = isDeploying ? await prepareUpdate(actor, id, patchOf) : undefined
      const updated = await change(actor, id, patchOf, deployment, onlyTakesAway(patch))
      const pending = updated.installations.some(({ status }) => status.endsWith('_pending'))
      if (patch.integrations === undefined || !pending) return updated
      // Most integrations register at once, so that the response already contains the result.
      await untilRegistered(id)
      return await load(db, actor, id)
    },

    /** The bot, which nobody else changes until the transaction ends. */
    async lock(tx: Tx, actor: WorkspaceActor, id: string): Promise<BotRecord> {
      await store.lockBot(tx, actor.workspaceId, id)
      return await load(tx, actor, id)
    },

    /** Puts code into force with what belonged to it, as an update with `code` does. */
    async restore(
      actor: WorkspaceActor,
      id: string,
      { code, content }: { code: string; content: BotContent },
    ): Promise<BotRecord> {
      const patchOf: PatchOf = (record) => ({ ...patchTo(record, content, sealer), code })
      return await change(actor, id, patchOf, await prepareUpdate(actor, id, patchOf), false)
    },

    /** Creates a signing secret and returns it; the previous one also signs for a day. */
    async rotateSigningSecret(actor: WorkspaceActor, id: string): Promise<string> {
      return await run(
        async (tx) => {
          const bot = await require(tx, actor, id)
          const { secret, stored } = rotateSigningSecret(sealer, bot.signing_secret, clock.now())
          await store.patchBot(tx, actor.workspaceId, id, {
            signing_secret: stored.current,
            previous_signing_secret: stored.previous,
            previous_secret_until: stored.previousUntil,
          })
          await raiseChanged(tx, id)
          return secret
        },
        { mayUseReserve: true },
      )
    },

    async remove(actor: WorkspaceActor, id: string): Promise<void> {
      const removed = await run((tx) => removeIn(tx, actor.workspaceId, id), {
        mayUseReserve: true,
      })
      if (!removed) throw unknownBot(id)
    },

    /**
     * Removes every bot, plugin and integration of a workspace in the transaction that removes the workspace. Bots
     * of others lose its integrations. They keep its plugins, which are part of their code.
     */
    async removeAll(tx: Tx, workspaceId: string): Promise<void> {
      for (const id of await store.listBotIds(tx, workspaceId)) await removeIn(tx, workspaceId, id)
      // Rows are locked in the same order everywhere: bots before plugins before integrations.
      await deps.plugins.service.removeAll(tx, workspaceId)
      const others = await installing.removeIntegrations(tx, workspaceId)
      for (const botId of others) await raiseChanged(tx, botId)
    },

    /** Raises `bot.changed` for bots whose integration or plugin was changed. */
    raiseChanged,

    recurringHealth,

    ...botLookups(deps),
  }
}

/** Whether events reach a bot: it has an address, or code that runs here. */
function isCallable({ url, deployment_id }: Pick<store.BotRow, 'url' | 'deployment_id'>): boolean {
  return url !== null || deployment_id !== null
}
