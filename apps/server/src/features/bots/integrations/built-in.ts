import type { contract, Output } from '@botstead/contract'
import { encodeJson } from '../../../platform/db/columns.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { builtInChat, chatVersions, declaredByChat } from '../built-in-chat/index.js'
import { emptyDefinition } from './definition.js'
import { type HubRow, listPublishedVersions } from './hub-store.js'
import type { IntegrationRow } from './store.js'
import { toPublishedSummary } from './view.js'

type PublicIntegration = Output<typeof contract.hub.getIntegration>['integration']

/** Time of the last change of the built-in integration's interface. */
const since = '2026-01-01T00:00:00.000Z'

/** The publisher of what comes with the server. */
export const serverPublisher = {
  id: '00000000-0000-4000-8000-000000000000',
  handle: null,
  name: 'Botstead',
}

const { extraOperations: _, ...nothing } = emptyDefinition

type Version = Pick<IntegrationRow, 'id' | 'version'>

/** A version of an integration that comes with the server, as a row of the hub. */
function rowOf({ id, version }: Version): HubRow {
  return {
    id,
    workspace_id: serverPublisher.id,
    name: builtInChat.name,
    version,
    title: builtInChat.title,
    description: builtInChat.description,
    icon: '',
    visibility: 'public',
    verification: 'approved',
    definition: encodeJson({}),
    installs: 0,
    created_at: since,
    updated_at: since,
  }
}

export function toHubSummary(row: HubRow) {
  return { ...toPublishedSummary(row), verificationStatus: row.verification }
}

/** An integration that comes with the server, as the hub shows it; undefined if the id is of another one. */
export function findBuiltIn(id: string): PublicIntegration | undefined {
  const found = chatVersions.find((version) => version.id === id)
  if (found === undefined) return undefined
  return {
    ...toHubSummary(rowOf(found)),
    ownerWorkspace: serverPublisher,
    ...nothing,
    ...declaredByChat,
    dev: false,
    url: '',
    readmeUrl: '',
    signingSecret: '',
    secrets: [],
  }
}

/** An entry of the hub that has no row in the database: the wanted version, which tools may request, or the newest. */
export function builtInRow(wantedVersion: string | undefined): HubRow {
  return rowOf(chatVersions.find(({ version }) => version === wantedVersion) ?? chatVersions[0])
}

/** Whether an integration that comes with the server has a name, so that no other may be published under it. */
export function isBuiltInName(name: string): boolean {
  return name === builtInChat.name
}

/** The versions of a name in the hub. */
export async function versionsInHub(executor: Db | Tx, name: string): Promise<readonly Version[]> {
  return isBuiltInName(name) ? chatVersions : await listPublishedVersions(executor, name)
}
