import type { contract, Output } from '@botstead/contract'
import { decodeBoolean, decodeJson } from '../../../platform/db/columns.js'
import { iconUrlOf, readmeUrlOf } from '../definitions/index.js'
import type { InstallableIntegration } from '../installations/index.js'
import type { LogLineRow } from '../log-lines/index.js'
import { type IntegrationDefinition, readDefinition } from './definition.js'
import type { IntegrationRow, IntegrationSummaryRow } from './store.js'

type WireIntegration = Output<typeof contract.integrations.get>['integration']
type WireSummary = Output<typeof contract.integrations.list>['integrations'][number]

type WireLog = Output<typeof contract.integrations.getLogs>['logs'][number]

export function toSummary(row: IntegrationSummaryRow): WireSummary {
  const { attributes } = decodeJson<IntegrationDefinition>(row.definition)
  return {
    id: row.id,
    name: row.name,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    title: row.title,
    description: row.description,
    iconUrl: iconUrlOf(row.icon),
    public: row.visibility === 'public',
    visibility: row.visibility,
    verificationStatus: 'unapproved',
    lifecycleStatus: 'published',
    attributes,
  }
}

/**
 * An integration as the hub shows it to other workspaces: without the address of its server and the names of
 * its secrets.
 */
export function toPublished(integration: IntegrationRow) {
  return {
    ...toIntegration(integration, ''),
    url: '',
    secrets: [],
    meta: { installs: integration.installs, views: 0 },
  }
}

/** An integration of the hub in a list. */
export function toPublishedSummary(row: IntegrationSummaryRow) {
  return { ...toSummary(row), meta: { installs: row.installs, views: 0 } }
}

/** @param signingSecret in clear only in the response to its creation; otherwise empty */
export function toIntegration(integration: IntegrationRow, signingSecret: string): WireIntegration {
  const { extraOperations: _, ...definition } = readDefinition(integration.definition)
  const { max_execution_time: maxExecutionTime } = integration
  return {
    ...toSummary(integration),
    dev: decodeBoolean(integration.dev),
    url: integration.url ?? '',
    readmeUrl: readmeUrlOf(integration.readme),
    signingSecret,
    secrets: Object.keys(decodeJson<Record<string, string>>(integration.secrets)),
    ...(maxExecutionTime !== null && { maxExecutionTime }),
    ...definition,
  }
}

export function toLog(row: LogLineRow): WireLog {
  return {
    timestamp: row.created_at,
    level: row.level,
    message: row.message,
    ...(row.bot_id !== '' && { botId: row.bot_id }),
  }
}

/** Maps an integration to the properties that installing it requires. */
export function toInstallable(row: IntegrationRow): InstallableIntegration {
  const { configuration, configurations, interfaces } = readDefinition(row.definition)
  return {
    id: row.id,
    publisherId: row.workspace_id,
    name: row.name,
    version: row.version,
    title: row.title,
    description: row.description,
    iconUrl: iconUrlOf(row.icon),
    visibility: row.visibility,
    isBuiltIn: false,
    interfaces,
    configuration: configuration.schema,
    configurations: new Map(
      Object.entries(configurations).map(([name, { schema }]) => [name, schema]),
    ),
  }
}
