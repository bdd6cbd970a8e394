import { notFound } from '../../../domain/refusals.js'
import { type BotScope, reaches } from '../../../domain/rights.js'
import { bound } from '../../../platform/bound.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import { createLruCache } from '../../../platform/lru-cache.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import { openSigningSecrets } from '../definitions/index.js'
import { type HostedCode, toHostedCode } from '../deployments/index.js'
import {
  findInstallationByWebhook,
  type InstallationRow,
  isBuiltIn,
  listInstallations,
} from '../installations/index.js'
import type { BotDefinition } from './definition.js'
import * as store from './store.js'

/** The server of a bot, with what calls to it need. */
interface BotServer {
  /** Its address; undefined if its code runs here. */
  url: string | undefined
  /** The configuration of the bot. */
  configuration: Record<string, unknown>
  /** Secrets that sign calls, the newest first. */
  secrets: readonly string[]
  /** Seconds that the bot may take for a call; undefined if it declares none. */
  maxExecutionTime: number | undefined
}

/** The address of a bot, and its workspace. */
interface BotAddress {
  workspaceId: string
  /** Whether a development tool made it. */
  isDev: boolean
  /** Undefined if it has none. */
  url: string | undefined
}

/** The installation behind a public chat address. */
export interface ChatInstallation {
  workspaceId: string
  botId: string
  webhookId: string
  alias: string
  enabled: boolean
  configuration: Record<string, unknown>
}

/** The selection of signals of a bot's chat that are posted to an address. */
export interface SignalPosting {
  /** Alias of the chat. */
  alias: string
  /** Aliases of all other installations: their conversations do not belong to the chat. */
  elsewhere: ReadonlySet<string>
}

/** The address to which the signals of a bot's chat are posted. */
interface SignalAddress {
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
export function botLookups(deps: BotLookupsDeps) {
  return {
    ...bound(deps, {
      workspaceOf,
      isIn,
      requireIn: requireBotIn,
      reachIn,
      namesOf,
      idsIn,
      findAddress,
      listIdsAfter,
      findServer,
      findHosted,
      listAlwaysAlive,
      countAlwaysAlive,
      countByWorkspace,
      installationsOf,
      findChatInstallation,
      findOpenChat,
      findSignalAddress,
    }),
    workspaceIn: createWorkspaceIn(deps),
    keepWorkspaceOf: store.keepWorkspaceOf,
    hold: holdBot,
    holdAnywhere: holdBotAnywhere,
    findSignalPosting,
  }
}

function signingSecretsOf({ sealer, clock }: BotLookupsDeps, bot: store.BotSecretColumns) {
  return openSigningSecrets(
    sealer,
    {
      current: bot.signing_secret,
      previous: bot.previous_signing_secret,
      previousUntil: bot.previous_secret_until,
    },
    isoTime(clock.now()),
  )
}

/** The workspace of a bot, or undefined if there is no such bot. */
async function workspaceOf({ db }: BotLookupsDeps, botId: string): Promise<string | undefined> {
  return await store.findWorkspaceOf(db, botId)
}

/** Bots whose workspaces are remembered. */
const maxRemembered = 10_000
/** Milliseconds for which they are: lines of logs that are written meanwhile are moved after a bot. */
export const workspaceRememberedMs = 5000

/** Makes the function that finds the workspace of a bot in a transaction, from memory where it can. */
function createWorkspaceIn({ clock }: Pick<BotLookupsDeps, 'clock'>) {
  const remembered = createLruCache<string, { workspaceId: string; until: number }>(maxRemembered)
  return async (tx: Tx, botId: string): Promise<string | undefined> => {
    const now = clock.now()
    const known = remembered.get(botId)
    if (known !== undefined && now < known.until) return known.workspaceId
    const workspaceId = await store.findWorkspaceOf(tx, botId)
    if (workspaceId !== undefined) {
      const until = now + workspaceRememberedMs
      // What the transaction sees may be its own change, which it may still take back.
      afterCommit(tx, () => remembered.set(botId, { workspaceId, until }))
    }
    return workspaceId
  }
}

/**
 * Keeps a bot from being deleted until the transaction ends, which creates something that belongs to it.
 * @returns whether it is one that the caller may see
 */
async function holdBot(tx: Tx, scope: BotScope, botId: string): Promise<boolean> {
  return reaches(scope.rights, botId) && (await store.keepBot(tx, scope.workspaceId, botId))
}

/**
 * As `hold`, whatever the workspace: for what is written after a call of a bot, during which the bot may have been deleted
 * and its rows with it.
 */
async function holdBotAnywhere(tx: Tx, botId: string): Promise<boolean> {
  return await store.keepBotAnywhere(tx, botId)
}

/** Whether a bot belongs to the workspace and is one that the caller may see. */
async function isIn({ db }: BotLookupsDeps, scope: BotScope, botId: string): Promise<boolean> {
  if (!reaches(scope.rights, botId)) return false
  return (await store.findWorkspaceOf(db, botId)) === scope.workspaceId
}

/** Throws `ResourceNotFound` unless the bot belongs to the workspace and is one that the caller may see. */
async function requireBotIn(deps: BotLookupsDeps, scope: BotScope, botId: string): Promise<void> {
  if (!(await isIn(deps, scope, botId))) throw notFound('bot', botId, 'in this workspace')
}

/** The newest bots of a workspace, at most `limit`, or one of it, with what shows whether they can be called. */
async function reachIn(
  { db }: BotLookupsDeps,
  scope: BotScope & { botId?: string | undefined },
  limit: number,
): Promise<store.BotReachRow[]> {
  return await store.listBotReach(db, scope, limit)
}

/** The names of bots of a workspace, by id. */
async function namesOf(
  { db }: BotLookupsDeps,
  scope: BotScope,
  ids: readonly string[],
): Promise<Map<string, string>> {
  return await store.listNames(db, scope, ids)
}

/** The number of bots of a workspace whose code always runs. */
async function countAlwaysAlive({ db }: BotLookupsDeps, workspaceId: string): Promise<number> {
  return await store.countAlwaysAlive(db, workspaceId)
}

/** Ids of the bots of a workspace. */
async function idsIn({ db }: BotLookupsDeps, scope: BotScope): Promise<string[]> {
  return await store.listBotIds(db, scope)
}

/** The address of a bot, whether it may be called or not; undefined if there is no such bot. */
async function findAddress({ db }: BotLookupsDeps, botId: string): Promise<BotAddress | undefined> {
  const bot = await store.findBotAddress(db, botId)
  if (bot === undefined) return undefined
  return { workspaceId: bot.workspace_id, isDev: bot.dev === 1, url: bot.url ?? undefined }
}

/** Ids of bots of all workspaces behind an id, at most `limit`, in the order of ids. */
async function listIdsAfter({ db }: BotLookupsDeps, id: string, limit: number): Promise<string[]> {
  return await store.listIdsAfter(db, id, limit)
}

/** The server of a bot; undefined if it has none, or the bot is blocked or gone. */
async function findServer(deps: BotLookupsDeps, botId: string): Promise<BotServer | undefined> {
  const bot = await store.findBotServer(deps.db, botId)
  if (bot === undefined || bot.blocked === 1) return undefined
  if (bot.url === null && bot.deployment_id === null) return undefined
  return {
    url: bot.url ?? undefined,
    configuration: decodeJson<BotDefinition>(bot.definition).configuration.data,
    secrets: signingSecretsOf(deps, bot),
    maxExecutionTime: bot.max_execution_time ?? undefined,
  }
}

/** The code of a bot that runs here; undefined without one. */
async function findHosted(
  { db, sealer }: BotLookupsDeps,
  botId: string,
): Promise<HostedCode | undefined> {
  const row = await store.findHosted(db, botId)
  return row && toHostedCode(sealer, 'bot', row)
}

/** Ids of bots whose code runs here and shall always run, at most `limit`, in a fixed order. */
async function listAlwaysAlive({ db }: BotLookupsDeps, limit: number): Promise<string[]> {
  return await store.listAlwaysAlive(db, limit)
}

/** The number of bots of each workspace. */
async function countByWorkspace(
  { db }: BotLookupsDeps,
  workspaceIds: readonly string[],
): Promise<Map<string, number>> {
  return await store.countBots(db, workspaceIds)
}

/** The installations of a bot, by alias. */
async function installationsOf({ db }: BotLookupsDeps, botId: string): Promise<InstallationRow[]> {
  return await listInstallations(db, botId)
}

/** The installation behind a chat address, or undefined if there is none. */
async function findChatInstallation(
  { db, sealer }: BotLookupsDeps,
  webhookId: string,
): Promise<ChatInstallation | undefined> {
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
}

/** The chat of a bot; undefined if it is switched off, or the bot is gone. */
async function findOpenChat(
  { db }: BotLookupsDeps,
  botId: string,
): Promise<InstallationRow | undefined> {
  return (await listInstallations(db, botId)).find(isOpenChat)
}

/** Whether signals are posted now, and which conversations are excluded. */
async function findSignalPosting(
  executor: Db | Tx,
  botId: string,
): Promise<SignalPosting | undefined> {
  const installed = await listInstallations(executor, botId)
  const chat = installed.find(isOpenChat)
  if (chat?.posts_signals !== 1) return undefined
  const others = installed.filter((row) => !isBuiltIn(row))
  return { alias: chat.alias, elsewhere: new Set(others.map(({ alias }) => alias)) }
}

/** The address of signals; undefined if there is none, or the bot is blocked or gone. */
async function findSignalAddress(
  deps: BotLookupsDeps,
  botId: string,
): Promise<SignalAddress | undefined> {
  const bot = await store.findBotServer(deps.db, botId)
  if (bot === undefined || bot.blocked === 1) return undefined
  const chat = await findOpenChat(deps, botId)
  if (chat === undefined) return undefined
  const { webhookUrl: url, webhookSecret: secret } = decodeJson<Record<string, unknown>>(
    deps.sealer.open(chat.configuration),
  )
  if (typeof url !== 'string' || url === '') return undefined
  return {
    url,
    secret: typeof secret === 'string' ? secret : '',
    signingSecrets: signingSecretsOf(deps, bot),
  }
}

/** Whether an installation is the chat, which is built in, and switched on. */
function isOpenChat(row: InstallationRow): boolean {
  return isBuiltIn(row) && row.enabled === 1
}
