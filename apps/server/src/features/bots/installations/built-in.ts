import { builtInChat, chatIdOf, chatVersions, isChatId } from '../built-in-chat/index.js'
import type { InstallationRow } from './store.js'

/** The properties of an integration that installing it in a bot requires. */
export interface InstallableIntegration {
  id: string
  /** Workspace of its developer; undefined for the built-in one. */
  publisherId: string | undefined
  name: string
  version: string
  title: string
  description: string
  iconUrl: string
  visibility: 'public' | 'private' | 'unlisted'
  isBuiltIn: boolean
  /** The interfaces that it implements, by its name for each. */
  interfaces: Readonly<Record<string, { id: string; name: string }>>
  /** JSON Schema of the default configuration. */
  configuration: Record<string, unknown>
  /** JSON Schemas of the other configurations, by name. */
  configurations: ReadonlyMap<string, Record<string, unknown>>
}

/** The versions of the built-in integration, by id. Its settings are validated by its own rules. */
export const builtInEntries: ReadonlyMap<string, InstallableIntegration> = new Map(
  chatVersions.map(({ id, version }) => [
    id,
    {
      id,
      publisherId: undefined,
      name: builtInChat.name,
      version,
      title: builtInChat.title,
      description: builtInChat.description,
      iconUrl: '',
      visibility: 'public',
      isBuiltIn: true,
      interfaces: {},
      configuration: {},
      configurations: new Map(),
    },
  ]),
)

/** Whether an installed integration comes with the server, so that no other server is called about it. */
export function isBuiltIn({
  integration_id: id,
}: Pick<InstallationRow, 'integration_id'>): boolean {
  return id === builtInChat.id
}

/** The id of the integration of an installation, as callers see it: each version of what is built in has its own. */
export function integrationIdOf(row: Pick<InstallationRow, 'integration_id' | 'version'>): string {
  return isBuiltIn(row) ? chatIdOf(row.version) : row.integration_id
}

/** The id under which an installation of an integration is stored: one for all versions of what is built in. */
export function storedIdOf(id: string): string {
  return isChatId(id) ? builtInChat.id : id
}
