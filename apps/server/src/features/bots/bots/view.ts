import type { contract, Output } from '@botstead/contract'
import type { Addresses } from '../../../domain/addresses.js'
import { decodeBoolean, decodeJson } from '../../../platform/db/columns.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import {
  type InstallableIntegration,
  type InstallationRow,
  integrationIdOf,
  isBuiltIn,
  statusReasonOf,
} from '../installations/index.js'
import { toPluginInstallation } from '../plugins/index.js'
import type { BotDefinition } from './definition.js'
import type { BotRecord } from './record.js'
import type { BotSummaryRow } from './store.js'

type WireBot = Output<typeof contract.bots.get>['bot']
type WireBotSummary = Output<typeof contract.bots.list>['bots'][number]
type WireInstallation = WireBot['integrations'][string]

/** The parts from which the JSON of a bot is built. */
export interface BotView {
  sealer: Sealer
  addresses: Addresses
  /** Whether `integrations` is keyed by alias; older clients key it by id of the integration. */
  keyByAlias: boolean
}

/** Health of an event that has not happened yet. */
const healthy = { failedAttempts: 0, lastFailureReason: null }

export function toBotSummary(row: BotSummaryRow): WireBotSummary {
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    name: row.name,
    ...(row.deployed_at !== null && { deployedAt: row.deployed_at }),
    tags: decodeJson(row.tags),
    type: row.type,
  }
}

export function toBot(record: BotRecord, view: BotView): WireBot {
  const { bot } = record
  const { recurringEvents, ...definition } = decodeJson<BotDefinition>(bot.definition)
  return {
    ...toBotSummary(bot),
    ...(bot.description !== null && { description: bot.description }),
    ...(bot.url !== null && { url: bot.url }),
    hosted: bot.url === null && bot.deployment_id !== null,
    ...(bot.created_by !== null && { createdBy: bot.created_by }),
    dev: decodeBoolean(bot.dev),
    status: 'active',
    signingSecret: record.signingSecret,
    alwaysAlive: decodeBoolean(bot.always_alive),
    ...(bot.max_execution_time !== null && { maxExecutionTime: bot.max_execution_time }),
    secrets: Object.keys(decodeJson<Record<string, string>>(bot.secrets)),
    ...definition,
    recurringEvents: Object.fromEntries(
      Object.entries(recurringEvents).map(([name, event]) => [
        name,
        { ...healthy, ...event, ...record.recurring.get(name) },
      ]),
    ),
    integrations: Object.fromEntries(
      record.installations.map((row) => [
        view.keyByAlias ? row.alias : integrationIdOf(row),
        toInstallation(row, record.integrations.get(row.integration_id), view),
      ]),
    ),
    plugins: Object.fromEntries(
      record.plugins.map(({ row, plugin }) => [
        row.alias,
        toPluginInstallation(row, plugin, view.sealer),
      ]),
    ),
  }
}

/** A bot for members who may not see what it and its installations are configured with. */
export function withoutConfiguration(bot: WireBot): WireBot {
  const withoutValues = <Entry extends { configuration: object }>(entries: Record<string, Entry>) =>
    Object.fromEntries(
      Object.entries(entries).map(([name, entry]) => [name, { ...entry, configuration: {} }]),
    )
  return {
    ...bot,
    configuration: { ...bot.configuration, data: {} },
    integrations: withoutValues(bot.integrations),
    plugins: withoutValues(bot.plugins),
  }
}

function toInstallation(
  row: InstallationRow,
  integration: InstallableIntegration | undefined,
  view: BotView,
): WireInstallation {
  // The only built-in integration is the chat, which has an address of its own.
  const isChat = isBuiltIn(row)
  return {
    id: integrationIdOf(row),
    name: row.name,
    version: row.version,
    enabled: decodeBoolean(row.enabled),
    webhookId: row.webhook_id,
    webhookUrl: `${isChat ? view.addresses.chat() : view.addresses.webhooks()}/${row.webhook_id}`,
    ...(row.identifier !== null && { identifier: row.identifier }),
    configurationType: row.configuration_type,
    configuration: decodeJson(view.sealer.open(row.configuration)),
    status: row.status,
    statusReason: statusReasonOf(row),
    disabledChannels: decodeJson(row.disabled_channels),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    title: integration?.title ?? '',
    description: integration?.description ?? '',
    iconUrl: integration?.iconUrl ?? '',
    public: integration?.visibility === 'public',
    visibility: integration?.visibility ?? 'private',
    verificationStatus: isChat ? 'approved' : 'unapproved',
    lifecycleStatus: 'published',
  }
}
