import type { Receiver } from '../../../domain/deliveries.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Db } from '../../../platform/db/schema.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import {
  builtInChat,
  findInstallation,
  type InstallationRow,
} from '../../bots/installations/index.js'
import type { KnownIntegration, KnownIntegrations } from '../../bots/integrations/index.js'
import type { Target } from './targets.js'

export interface IntegrationTargetDeps {
  db: Db
  sealer: Sealer
  integrations: { known: Pick<KnownIntegrations, 'of'> }
}

/** How an installed integration is called; undefined if it is switched off, or has no server. */
export async function findIntegrationTarget(
  deps: IntegrationTargetDeps,
  { botId, integration: alias }: Receiver,
): Promise<Target | undefined> {
  const row = await findInstallation(deps.db, botId, alias)
  if (row === undefined || row.enabled !== 1 || row.integration_id === builtInChat.id) {
    return undefined
  }
  return await targetOfInstallation(deps, row)
}

/** The same by the row of the installation, whether it is switched on or not. */
export async function targetOfInstallation(
  { sealer, integrations }: Omit<IntegrationTargetDeps, 'db'>,
  row: InstallationRow,
): Promise<Target | undefined> {
  const configuration = decodeJson<Record<string, unknown>>(sealer.open(row.configuration))
  return targetOf(await integrations.known.of(row.integration_id), { ...row, configuration })
}

/** The part of an installation that every call about it carries. */
type Installed = Pick<
  InstallationRow,
  'bot_id' | 'alias' | 'integration_id' | 'webhook_id' | 'configuration_type'
> & {
  /** In clear. */
  configuration: Record<string, unknown>
}

function targetOf(
  integration: KnownIntegration | undefined,
  installed: Installed,
): Target | undefined {
  if (integration?.url === undefined) return undefined
  const { bot_id: botId, configuration_type: type } = installed
  return {
    url: integration.url,
    headers: {
      'x-bot-id': botId,
      // The bot is one of its own users: the author of its messages.
      'x-bot-user-id': botId,
      'x-integration-id': installed.integration_id,
      'x-integration-alias': installed.alias,
      'x-webhook-id': installed.webhook_id,
      'x-bp-configuration': Buffer.from(JSON.stringify(installed.configuration)).toString('base64'),
      ...(type !== null && { 'x-bp-configuration-type': encodeURI(type) }),
    },
    secrets: integration.secrets,
    timeoutMs: integration.timeoutMs,
  }
}
