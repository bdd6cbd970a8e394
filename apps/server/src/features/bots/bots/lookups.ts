import { ApiError } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { isoTime } from '../../../platform/clock.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { BotDefinition } from './definition.js'
import * as installations from './installation-store.js'
import { liveSecrets } from './secrets.js'
import type { BotsDeps } from './service.js'
import * as store from './store.js'

/** The server of a bot, as calls to it need it. */
export interface BotServer {
  url: string
  /** What the bot was configured with. */
  configuration: Record<string, unknown>
  /** Secrets that sign calls, the newest first. */
  secrets: readonly string[]
  /** Seconds that the bot may take for a call; undefined if it does not say. */
  maxExecutionTime: number | undefined
}

/** What other slices ask about bots, in nobody's name. */
export function botLookups({ db, clock, sealer }: Pick<BotsDeps, 'db' | 'clock' | 'sealer'>) {
  return {
    /** The workspace of a bot, or undefined if there is no such bot. */
    async workspaceOf(botId: string): Promise<string | undefined> {
      return await store.findWorkspaceOf(db, botId)
    },

    /** Makes sure that a bot is one of the workspace. Throws `ResourceNotFound` otherwise. */
    async requireIn({ workspaceId }: WorkspaceActor, botId: string): Promise<void> {
      if ((await store.findWorkspaceOf(db, botId)) === workspaceId) return
      throw unknownBot(botId)
    },

    /** The bot's own server; undefined if there is none, or the bot is blocked or gone. */
    async findServer(botId: string): Promise<BotServer | undefined> {
      const bot = await store.findBotServer(db, botId)
      if (bot === undefined || bot.url === null || bot.blocked === 1) return undefined
      return {
        url: bot.url,
        configuration: decodeJson<BotDefinition>(bot.definition).configuration.data,
        secrets: liveSecrets(sealer, bot, isoTime(clock.now())),
        maxExecutionTime: bot.max_execution_time ?? undefined,
      }
    },

    /** How many bots each workspace has. */
    async countByWorkspace(workspaceIds: readonly string[]): Promise<Map<string, number>> {
      return await store.countBots(db, workspaceIds)
    },

    /** What is installed in a bot, by alias. */
    async installationsOf(botId: string): Promise<store.InstallationRow[]> {
      return await installations.listInstallations(db, botId)
    },
  }
}

/** Says that there is no such bot for the caller. */
export function unknownBot(id: string): ApiError {
  return new ApiError('ResourceNotFound', `There is no bot ${id} in this workspace.`)
}
