import { ApiError } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import { openSigningSecrets } from '../definitions/index.js'
import { type HostedCode, toHostedCode } from '../deployments/index.js'
import {
  builtInChat,
  findInstallationByWebhook,
  type InstallationRow,
  listInstallations,
} from '../installations/index.js'
import type { BotDefinition } from './definition.js'
import * as store from './store.js'

/** Where a bot is called, with what calls to it need. */
export interface BotServer {
  /** Its address; undefined if its code runs here. */
  url: string | undefined
  /** The configuration of the bot. */
  configuration: Record<string, unknown>
  /** Secrets that sign calls, the newest first. */
  secrets: readonly string[]
  /** Seconds that the bot may take for a call; undefined if it declares none. */
  maxExecutionTime: number | undefined
}

/** Where a bot is called, and whose it is. */
export interface BotAddress {
  workspaceId: string
  /** Whether a development tool made it. */
  isDev: boolean
  /** Undefined if it has none. */
  url: string | undefined
}

/** Where a bot's public chat address leads. */
export interface ChatInstallation {
  workspaceId: string
  botId: string
  webhookId: string
  alias: string
  enabled: boolean
  configuration: Record<string, unknown>
}

/** Which signals of a bot's chat are posted to an address. */
export interface SignalPosting {
  /** Alias of the chat. */
  alias: string
  /** Aliases of all other installations: their conversations do not belong to the chat. */
  elsewhere: ReadonlySet<string>
}

/** Where the signals of a bot's chat are posted. */
export interface SignalAddress {
  url: string
  /** Sent in clear with each call; empty if there is none. */
  secret: string
  /** Secrets of the bot that sign the calls, the newest first. */
  signingSecrets: readonly string[]
}

interface BotLookupsDeps {
  db: Db
  clock: Clock
  sealer: Sealer
}

/** Reads of bots for other slices, without a caller whose permissions are checked. */
export function botLookups({ db, clock, sealer }: BotLookupsDeps) {
  const signingSecretsOf = (bot: store.BotSecretColumns) =>
    openSigningSecrets(
      sealer,
      {
        current: bot.signing_secret,
        previous: bot.previous_signing_secret,
        previousUntil: bot.previous_secret_until,
      },
      isoTime(clock.now()),
    )

  return {
    /** The workspace of a bot, or undefined if there is no such bot. */
    async workspaceOf(botId: string): Promise<string | undefined> {
      return await store.findWorkspaceOf(db, botId)
    },

    /**
     * Keeps a bot from being deleted until the transaction ends, which creates something that belongs to it.
     * @returns whether it is in the workspace
     */
    async hold(
      tx: Tx,
      { workspaceId }: Pick<WorkspaceActor, 'workspaceId'>,
      botId: string,
    ): Promise<boolean> {
      return await store.keepBot(tx, workspaceId, botId)
    },

    /**
     * As `hold`, whatever the workspace: for what is written after a call of a bot, during which the bot may have been deleted
     * and its rows with it.
     */
    async holdAnywhere(tx: Tx, botId: string): Promise<boolean> {
      return await store.keepBotAnywhere(tx, botId)
    },

    /** Throws `ResourceNotFound` unless the bot belongs to the workspace. */
    async requireIn({ workspaceId }: WorkspaceActor, botId: string): Promise<void> {
      if ((await store.findWorkspaceOf(db, botId)) === workspaceId) return
      throw unknownBot(botId)
    },

    /** The newest bots of a workspace, at most `limit`, or one of it, with what shows whether they can be called. */
    async reachIn(
      scope: Pick<WorkspaceActor, 'workspaceId'> & { botId?: string | undefined },
      limit: number,
    ): Promise<store.BotReachRow[]> {
      return await store.listBotReach(db, scope, limit)
    },

    /** The names of bots of a workspace, by id. */
    async namesOf(
      { workspaceId }: Pick<WorkspaceActor, 'workspaceId'>,
      ids: readonly string[],
    ): Promise<Map<string, string>> {
      return await store.listNames(db, workspaceId, ids)
    },

    /** Ids of the bots of a workspace. */
    async idsIn({ workspaceId }: Pick<WorkspaceActor, 'workspaceId'>): Promise<string[]> {
      return await store.listBotIds(db, workspaceId)
    },

    /** The address of a bot, whether it may be called or not; undefined if there is no such bot. */
    async findAddress(botId: string): Promise<BotAddress | undefined> {
      const bot = await store.findBotAddress(db, botId)
      if (bot === undefined) return undefined
      return { workspaceId: bot.workspace_id, isDev: bot.dev === 1, url: bot.url ?? undefined }
    },

    /** Ids of bots of all workspaces behind an id, at most `limit`, in the order of ids. */
    async listIdsAfter(id: string, limit: number): Promise<string[]> {
      return await store.listIdsAfter(db, id, limit)
    },

    /** Where the bot is called; undefined if nowhere, or the bot is blocked or gone. */
    async findServer(botId: string): Promise<BotServer | undefined> {
      const bot = await store.findBotServer(db, botId)
      if (bot === undefined || bot.blocked === 1) return undefined
      if (bot.url === null && bot.deployment_id === null) return undefined
      return {
        url: bot.url ?? undefined,
        configuration: decodeJson<BotDefinition>(bot.definition).configuration.data,
        secrets: signingSecretsOf(bot),
        maxExecutionTime: bot.max_execution_time ?? undefined,
      }
    },

    /** The code of a bot that runs here; undefined without one. */
    async findHosted(botId: string): Promise<HostedCode | undefined> {
      const row = await store.findHosted(db, botId)
      return row && toHostedCode(sealer, 'bot', row)
    },

    /** Ids of bots whose code runs here and shall always run, at most `limit`, in a fixed order. */
    async listAlwaysAlive(limit: number): Promise<string[]> {
      return await store.listAlwaysAlive(db, limit)
    },

    /** How many bots each workspace has. */
    async countByWorkspace(workspaceIds: readonly string[]): Promise<Map<string, number>> {
      return await store.countBots(db, workspaceIds)
    },

    /** What is installed in a bot, by alias. */
    async installationsOf(botId: string): Promise<InstallationRow[]> {
      return await listInstallations(db, botId)
    },

    /** The installation behind a chat address, or undefined if there is none. */
    async findChatInstallation(webhookId: string): Promise<ChatInstallation | undefined> {
      const row = await findInstallationByWebhook(db, webhookId)
      if (row === undefined) return undefined
      const workspaceId = await store.findWorkspaceOf(db, row.bot_id)
      if (workspaceId === undefined) return undefined
      return {
        workspaceId,
        botId: row.bot_id,
        webhookId,
        alias: row.alias,
        enabled: row.enabled === 1,
        configuration: decodeJson(sealer.open(row.configuration)),
      }
    },

    /** Whether signals are posted now, and which conversations are excluded. */
    async findSignalPosting(executor: Db | Tx, botId: string): Promise<SignalPosting | undefined> {
      const installed = await listInstallations(executor, botId)
      const chat = installed.find(isOpenChat)
      if (chat?.posts_signals !== 1) return undefined
      const others = installed.filter((row) => row.integration_id !== builtInChat.id)
      return { alias: chat.alias, elsewhere: new Set(others.map(({ alias }) => alias)) }
    },

    /** The address of signals; undefined if there is none, or the bot is blocked or gone. */
    async findSignalAddress(botId: string): Promise<SignalAddress | undefined> {
      const bot = await store.findBotServer(db, botId)
      if (bot === undefined || bot.blocked === 1) return undefined
      const chat = (await listInstallations(db, botId)).find(isOpenChat)
      if (chat === undefined) return undefined
      const { webhookUrl: url, webhookSecret: secret } = decodeJson<Record<string, unknown>>(
        sealer.open(chat.configuration),
      )
      if (typeof url !== 'string' || url === '') return undefined
      return {
        url,
        secret: typeof secret === 'string' ? secret : '',
        signingSecrets: signingSecretsOf(bot),
      }
    },
  }
}

/** The error for a bot that does not exist for the caller. */
export function unknownBot(id: string): ApiError {
  return new ApiError('ResourceNotFound', `There is no bot ${id} in this workspace.`)
}

function isOpenChat({ integration_id: id, enabled }: InstallationRow): boolean {
  return id === builtInChat.id && enabled === 1
}
