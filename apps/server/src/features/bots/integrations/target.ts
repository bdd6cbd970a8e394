import type { Target } from '../../calls/targets/index.js'
import type { InstallationRow } from '../bots/index.js'
import type { KnownIntegration } from './known.js'

/** What of an installation every call about it carries. */
export type Installed = Pick<
  InstallationRow,
  'bot_id' | 'alias' | 'integration_id' | 'webhook_id' | 'configuration_type'
> & {
  /** In clear. */
  configuration: Record<string, unknown>
}

/** How the server of an integration is called about an installation; undefined if it has none. */
export function targetOf(
  integration: KnownIntegration | undefined,
  installed: Installed,
): Target | undefined {
  if (integration?.url === undefined) return undefined
  const { bot_id: botId, configuration_type: type } = installed
  return {
    url: integration.url,
    headers: {
      'x-bot-id': botId,
      // The bot is a user of itself: what it writes has this author.
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
