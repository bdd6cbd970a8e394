import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import { builtInChat } from './built-in-chat.js'
import { findInstallationByWebhook, listInstallations } from './installation-store.js'
import { liveSecrets } from './secrets.js'
import { findBotServer, findWorkspaceOf, type InstallationRow } from './store.js'

/** Where a bot's public chat address leads. */
export interface ChatInstallation {
  workspaceId: string
  botId: string
  webhookId: string
  alias: string
  enabled: boolean
  configuration: Record<string, unknown>
}

/** That the signals of a bot's chat are posted to an address. */
export interface SignalPosting {
  /** Alias of the chat. */
  alias: string
  /** Aliases of everything else that is installed: its conversations are not of the chat. */
  elsewhere: ReadonlySet<string>
}

/** Where the signals of a bot's chat are posted. */
export interface SignalAddress {
  url: string
  /** Sent along in clear; empty if there is none. */
  secret: string
  /** Secrets of the bot that sign the calls, the newest first. */
  signingSecrets: readonly string[]
}

interface ChatInstallationsDeps {
  db: Db
  clock: Clock
  sealer: Sealer
}

/** What others need to know of the chat that is installed in every bot. */
export function chatInstallations({ db, clock, sealer }: ChatInstallationsDeps) {
  return {
    /** The installation behind a chat address, or undefined if there is none. */
    async findChatInstallation(webhookId: string): Promise<ChatInstallation | undefined> {
      const row = await findInstallationByWebhook(db, webhookId)
      if (row === undefined) return undefined
      const workspaceId = await findWorkspaceOf(db, row.bot_id)
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

    /** Whether signals are posted now, and of which conversations they are not. */
    async findSignalPosting(executor: Db | Tx, botId: string): Promise<SignalPosting | undefined> {
      const installed = await listInstallations(executor, botId)
      const chat = installed.find(isOpenChat)
      if (chat?.posts_signals !== 1) return undefined
      const others = installed.filter((row) => row.integration_id !== builtInChat.id)
      return { alias: chat.alias, elsewhere: new Set(others.map(({ alias }) => alias)) }
    },

    /** The address of signals; undefined if there is none, or the bot is blocked or gone. */
    async findSignalAddress(botId: string): Promise<SignalAddress | undefined> {
      const bot = await findBotServer(db, botId)
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
        signingSecrets: liveSecrets(sealer, bot, isoTime(clock.now())),
      }
    },
  }
}

function isOpenChat({ integration_id: id, enabled }: InstallationRow): boolean {
  return id === builtInChat.id && enabled === 1
}
