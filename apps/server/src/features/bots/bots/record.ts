import type { Db, Tx } from '../../../platform/db/schema.js'
import type { InstallableIntegration, InstallationRow } from '../installations/index.js'
import type { PluginRecord } from '../plugins/index.js'
import type { BotRow } from './store.js'

/** A bot with what is installed in it. */
export interface BotRecord {
  bot: BotRow
  installations: InstallationRow[]
  /** The installed integrations, by id. */
  integrations: ReadonlyMap<string, InstallableIntegration>
  /** Its plugins, oldest first. */
  plugins: PluginRecord[]
  /** In clear only in the response to the creation of the bot. */
  signingSecret: string
  /** Health of the deliveries of its recurring events, by name. */
  recurring: ReadonlyMap<string, RecurringHealth>
}

/** Health of the deliveries of a recurring event. */
interface RecurringHealth {
  failedAttempts: number
  lastFailureReason: string | null
}

/** Reads the health of the recurring events of a bot, by name. */
export type ReadRecurringHealth = (
  executor: Db | Tx,
  botId: string,
) => Promise<ReadonlyMap<string, RecurringHealth>>
