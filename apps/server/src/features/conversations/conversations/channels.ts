import { ApiError } from '@botstead/contract'
import type { InstalledAs } from '../../bots/bots/index.js'
import type { IntegrationDefinition } from '../../bots/integrations/index.js'

/**
 * What an integration declares of a channel. Throws `ReferenceNotFound` if it declares others only;
 * undefined if it declares none, or is not installed.
 */
export function requireChannel(
  installed: InstalledAs | undefined,
  alias: string,
  channel: string,
): IntegrationDefinition['channels'][string] | undefined {
  const channels = installed?.declares?.channels ?? {}
  const names = Object.keys(channels)
  if (names.length === 0 || Object.hasOwn(channels, channel)) return channels[channel]
  throw new ApiError(
    'ReferenceNotFound',
    `body.channel: ${alias} has no channel ${channel}; it has ${names.join(', ')}.`,
    { metadata: { in: 'body', field: 'channel' } },
  )
}
