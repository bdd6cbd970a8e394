import type { Awaitable } from '../../../domain/authenticator.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { IntegrationDeclarations } from './audience.js'
import { builtInChat } from './built-in-chat.js'
import type { InstallationRow } from './store.js'

/** What a bot has to know of an integration that is, or is to be, installed in it. */
export interface CatalogueEntry {
  id: string
  name: string
  version: string
  title: string
  description: string
  iconUrl: string
  visibility: 'public' | 'private' | 'unlisted'
  isBuiltIn: boolean
  /** JSON Schema of the default configuration. */
  configuration: Record<string, unknown>
  /** JSON Schemas of the other configurations, by name. */
  configurations: ReadonlyMap<string, Record<string, unknown>>
}

/** What can be installed. */
export interface Catalogue {
  /** Those of some integrations that the bots of a workspace may have, by id. */
  find(
    executor: Db | Tx,
    workspaceId: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, CatalogueEntry>>
  /** What an integration declares, from memory when it can be; undefined if there is none. */
  declarationsOf(integrationId: string): Awaitable<IntegrationDeclarations | undefined>
  /**
   * Told in the transaction that changes what is installed in a bot, so that the integrations can be
   * called about it.
   */
  onChanged(tx: Tx, botId: string, changes: readonly InstallationChange[]): Promise<void>
  /** Waits a moment for the integrations to be called about their installations in a bot. */
  untilSettled(botId: string): Promise<void>
}

/** What becomes of an installation: made without `before`, removed without `after`. */
export interface InstallationChange {
  before?: InstallationRow
  after?: InstallationRow
}

/** The integration that comes with the server. Its settings are checked by its own rules. */
export const builtInEntry: CatalogueEntry = {
  ...{ id: builtInChat.id, name: builtInChat.name, version: builtInChat.version },
  ...{ title: builtInChat.title, description: builtInChat.description, iconUrl: '' },
  ...{ visibility: 'public', isBuiltIn: true, configuration: {}, configurations: new Map() },
}
