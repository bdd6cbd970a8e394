import { ApiError } from '@botstead/contract'
import { isHttpAddress } from './server-address.js'

/**
 * The integration that every bot has from the start: its installation is the bot's chat address.
 * The version is the one that the chat client for this interface asks for.
 */
export const builtInChat = {
  id: '6f1c1f5e-4c52-4d0e-9d0a-5b1d1f0c7a11',
  name: 'chat',
  alias: 'chat',
  version: '0.7.6',
  title: 'Chat',
  description: 'Web and app chat through the chat address of this server.',
} as const

/** Settings of the chat installation; all optional texts. */
const textSettings = [
  // Verifies user keys: with it, users sign their own keys and createUser is refused.
  'encryptionKey',
  // Where every signal is posted too, and what is sent along in the header `x-secret-key`.
  'webhookUrl',
  'webhookSecret',
]

/** Checks settings given to an installation of chat; unknown members are kept. */
export function requireChatConfiguration(
  field: string,
  configuration: Record<string, unknown>,
): Record<string, unknown> {
  for (const name of textSettings) {
    const value = configuration[name]
    if (value !== undefined && typeof value !== 'string') {
      throw new ApiError('InvalidDataFormat', `${field}.${name} must be a string.`)
    }
  }
  const { webhookUrl } = configuration
  if (typeof webhookUrl === 'string' && webhookUrl !== '' && !isHttpAddress(webhookUrl)) {
    throw new ApiError(
      'InvalidDataFormat',
      `${field}.webhookUrl must be an address such as https://www.example.com/signals.`,
    )
  }
  return configuration
}

/** Whether the app wants every signal posted to an address of its own. */
export function postsSignals({ webhookUrl }: Record<string, unknown>): boolean {
  return typeof webhookUrl === 'string' && webhookUrl !== ''
}
