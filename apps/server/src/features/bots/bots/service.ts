import type { contract, Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { onlyTakesAway } from '../../../domain/only-takes-away.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { afterCommit } from '../../../platform/db/after-commit.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Database } from '../../../platform/db/engine.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Remember } from '../../../platform/idempotency/remember.js'
import { type Ids, newSigningSecret } from '../../../platform/ids.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { type Audience, wantsOf } from './audience.js'
import { builtInEntry, type Catalogue, type CatalogueEntry } from './catalogue.js'
import { type BotPatch, changesOf, type NewBot, newBot, requireNoPlugins } from './changes.js'
import { chatInstallations } from './chat-installations.js'
import {
  type BotDefinition,
  emptyDefinition,
  logPatternsOfBot,
  patchDefinition,
} from './definition.js'
import * as installations from './installation-store.js'
import {
  type InstallationPatches,
  changesOf as installationChangesOf,
  integrationsIn,
  newChatInstallation,
} from './installations.js'
import { botLookups, unknownBot } from './lookups.js'
import { createBotsRevision } from './revision.js'
import * as store from './store.js'

type BotListQuery = Query<typeof contract.bots.list>

/** A bot with what is installed in it. */
export interface BotRecord {
  bot: store.BotRow
  installations: store.InstallationRow[]
  /** What is installed, by id. */
  catalogue: ReadonlyMap<string, CatalogueEntry>
  /** In clear only for whoever made the bot, in the answer to making it. */
  signingSecret: string
  /** How the deliveries of its recurring events went, by name. */
  recurring: ReadonlyMap<string, RecurringHealth>
}

/** How the deliveries of a recurring event went. */
interface RecurringHealth {
  failedAttempts: number
  lastFailureReason: string | null
}

export interface BotsDeps {
  db: Db
  run: Run
  clock: Clock
  log: Pick<Log, 'warn'>
  ids: Ids
  sealer: Sealer
  pager: Pager
  queue: Queue
  database: Pick<Database, 'foreignChanges'>
  catalogue: Catalogue
  /** Told in the transaction that makes a bot. */
  onCreated: (tx: Tx, botId: string) => Promise<void>
  /** Told in the transaction that changes what a bot wants to be told again and again. */
  onRecurring: (tx: Tx, botId: string, declared: BotDefinition['recurringEvents']) => Promise<void>
  /** Told in the transaction that gives a bot an address which had none; `wants` says what it wants to hear. */
  onAddressed: (tx: Tx, botId: string, wants: Audience['wants']) => Promise<void>
  /** Told in the transaction that gives a bot an address, or new code at the one it has. */
  onDeployed: (tx: Tx, botId: string) => Promise<void>
  /** How the deliveries of the recurring events of a bot went, by name. */
  recurringHealth: (
    executor: Db | Tx,
    botId: string,
  ) => Promise<ReadonlyMap<string, RecurringHealth>>
  /** Told after a bot, or what is installed in it, has changed or gone: memories of it are stale. */
  onChanged: (botId: string) => void
}

/** Name of the job that removes what a deleted bot leaves behind. */
export const purgeBotJob = 'bots.purge'

/** Milliseconds that the signing secret before the newest still signs. */
const overlapMs = 24 * 60 * 60 * 1000

/** Milliseconds: other processes trust what they know of a bot for five seconds and may still write. */
const purgeDelay = 10_000

export type BotsService = ReturnType<typeof createBotsService>

export function createBotsService(deps: BotsDeps) {
  const { db, run, clock, ids, sealer, queue } = deps
  const revision = createBotsRevision(() => deps.database.foreignChanges())

  /** Makes memories of a bot stale as soon as its change is stored. */
  function announce(tx: Tx, id: string): void {
    afterCommit(tx, () => {
      revision.advance()
      deps.onChanged(id)
    })
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
      catalogue: await entriesOf(
        executor,
        bot.workspace_id,
        installed.map((row) => row.integration_id),
      ),
      signingSecret: '',
      recurring: await deps.recurringHealth(executor, id),
    }
  }

  /** Integrations by id, with the one that comes with the server. */
  async function entriesOf(executor: Db | Tx, workspaceId: string, ids: readonly string[]) {
    const others = ids.filter((id) => id !== builtInEntry.id)
    const found =
      others.length === 0 ? [] : await deps.catalogue.find(executor, workspaceId, others)
    return new Map([[builtInEntry.id, builtInEntry], ...found])
  }

  async function changeInstallations(
    tx: Tx,
    { bot, installations: installed }: BotRecord,
    patches: InstallationPatches | undefined,
    now: string,
  ): Promise<void> {
    if (patches === undefined) return
    const ids = [...installed.map((row) => row.integration_id), ...integrationsIn(patches)]
    const catalogue = await entriesOf(tx, bot.workspace_id, ids)
    const making = { botId: bot.id, now, sealer, newWebhookId: () => deps.ids.uuid() }
    const changes = installationChangesOf(installed, patches, catalogue, making)
    for (const { before, after } of changes) {
      if (after === undefined && before) {
        await installations.deleteInstallation(tx, bot.id, before.alias)
      } else if (after && before) {
        await installations.patchInstallation(tx, bot.id, before.alias, after)
      } else if (after) await installations.insertInstallation(tx, after)
    }
    await deps.catalogue.onChanged(tx, bot.id, changes)
  }

  async function removeIn(tx: Tx, workspaceId: string, id: string): Promise<boolean> {
    if (!(await store.deleteBot(tx, workspaceId, id))) return false
    const installed = await installations.listInstallations(tx, id)
    await deps.catalogue.onChanged(
      tx,
      id,
      installed.map((before) => ({ before })),
    )
    await installations.deleteInstallations(tx, id)
    const runAt = clock.now() + purgeDelay
    await queue.enqueue(tx, { kind: purgeBotJob, key: id, payload: { botId: id }, runAt })
    announce(tx, id)
    return true
  }

  return {
    async list(actor: WorkspaceActor, query: BotListQuery): Promise<Page<store.BotSummaryRow>> {
      const { nextToken, pageSize, sortField, sortDirection, ...filter } = query
      // No plugin can be installed, so no bot has any.
      if (filter.pluginNames?.length) return { rows: [], nextToken: undefined }
      return await store.pageBots(
        db,
        actor.workspaceId,
        {
          dev: filter.dev ?? false,
          tags: filter.tags ?? {},
          integrationNames: filter.integrationNames ?? [],
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
     * Names the state of the bots of a workspace: while it is the same, so is every list of them.
     * Undefined where changes by other processes go unseen.
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
      const bot = newBot(input, {
        id,
        workspaceId: actor.workspaceId,
        accountId: actor.accountId,
        definition,
        signingSecret,
        now,
        sealer,
      })
      const chat = newChatInstallation({ botId: id, webhookId: ids.uuid(), now, sealer })
      return await run(async (tx) => {
        await store.insertBot(tx, bot)
        logPatternsOfBot(tx, deps.log, id, definition)
        await installations.insertInstallation(tx, chat)
        await deps.onCreated(tx, id)
        if (input.recurringEvents) await deps.onRecurring(tx, id, definition.recurringEvents)
        if (input.url !== undefined) await deps.onDeployed(tx, id)
        const made = {
          ...{ bot, installations: [chat], signingSecret, recurring: new Map() },
          catalogue: new Map([[builtInEntry.id, builtInEntry]]),
        }
        await remember?.(tx, made)
        announce(tx, id)
        return made
      })
    },

    async update(actor: WorkspaceActor, id: string, patch: BotPatch): Promise<BotRecord> {
      requireNoPlugins(patch.plugins)
      const updated = await run(
        async (tx) => {
          const current = await load(tx, actor, id)
          const now = isoTime(clock.now())
          const changes = changesOf(current.bot, patch, now, sealer)
          const definition = decodeJson<BotDefinition>(changes.definition)
          await store.patchBot(tx, actor.workspaceId, id, changes)
          logPatternsOfBot(tx, deps.log, id, definition)
          if (patch.recurringEvents) await deps.onRecurring(tx, id, definition.recurringEvents)
          await changeInstallations(tx, current, patch.integrations, now)
          if (current.bot.url === null && typeof patch.url === 'string') {
            await deps.onAddressed(tx, id, wantsOf(definition))
          }
          const isNews = patch.code !== undefined && patch.url === undefined
          if (patch.url || (isNews && current.bot.url !== null)) await deps.onDeployed(tx, id)
          announce(tx, id)
          return await load(tx, actor, id)
        },
        { freesRoom: onlyTakesAway(patch) },
      )
      const pending = updated.installations.some(({ status }) => status.endsWith('_pending'))
      if (patch.integrations === undefined || !pending) return updated
      // Most integrations register at once: then the answer already says how it went.
      await deps.catalogue.untilSettled(id)
      return await load(db, actor, id)
    },

    /** Makes a new signing secret; the one before signs too for a day. Answers the new one. */
    async rotateSigningSecret(actor: WorkspaceActor, id: string): Promise<string> {
      const secret = newSigningSecret()
      await run(
        async (tx) => {
          const bot = await require(tx, actor, id)
          await store.patchBot(tx, actor.workspaceId, id, {
            signing_secret: sealer.seal(secret),
            previous_signing_secret: bot.signing_secret,
            previous_secret_until: isoTime(clock.now() + overlapMs),
          })
          announce(tx, id)
        },
        { freesRoom: true },
      )
      return secret
    },

    async remove(actor: WorkspaceActor, id: string): Promise<void> {
      const removed = await run((tx) => removeIn(tx, actor.workspaceId, id), { freesRoom: true })
      if (!removed) throw unknownBot(id)
    },

    /** Removes every bot of a workspace in the transaction that removes the workspace. */
    async removeAll(tx: Tx, workspaceId: string): Promise<void> {
      for (const id of await store.listBotIds(tx, workspaceId)) await removeIn(tx, workspaceId, id)
    },

    ...botLookups(deps),
    ...chatInstallations(deps),
  }
}
