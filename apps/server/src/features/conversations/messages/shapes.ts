import { ApiError } from '@botstead/contract'
import { requireShape } from '../../../domain/shapes.js'
import type { Audience } from '../../bots/bots/index.js'
import { builtInChat, chatShapes } from '../../bots/installations/index.js'

/** The channel that a message goes through. */
interface Channel {
  /** Alias of the installation that the conversation belongs to. */
  integration: string
  channel: string
}

/**
 * Throws unless a message is one of those that its channel declares, and fits the schema. What nobody
 * declares is not checked: a channel without messages, or of an integration that is not installed.
 * @param place path of the object in the body that has `type` and `payload`, with a dot behind it
 */
export function requireMessageShape(
  audience: Audience,
  { integration, channel }: Channel,
  { type, payload }: { type: string; payload: unknown },
  place = '',
): void {
  const installed = audience.installationOf(integration)
  const isChat = installed?.integrationId === builtInChat.id
  const channels = installed?.declares?.channels ?? {}
  const declared = Object.hasOwn(channels, channel) ? channels[channel]?.messages : undefined
  const messages = isChat ? chatShapes : declared
  const types = Object.keys(messages ?? {})
  if (messages === undefined || types.length === 0) return
  const message = Object.hasOwn(messages, type) ? messages[type] : undefined
  if (message === undefined) {
    throw new ApiError(
      'InvalidPayload',
      `body.${place}type: ${isChat ? integration : `the channel ${channel} of ${integration}`} has no messages of the type ${type}; it has ${types.join(', ')}.`,
      { metadata: { in: 'body', field: `${place}type` } },
    )
  }
  requireShape(message.schema, payload, `${place}payload`, `messages of the type ${type}`)
}
