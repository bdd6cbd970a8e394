import { ApiError } from '@botstead/contract'
import { signalReceiver } from '../../../domain/deliveries.js'
import { nearest } from '../../../platform/nearest.js'
import { isHttpAddress } from '../definitions/index.js'

export { blocParts, chatShapes, declaredByChat } from './declared.js'

/**
 * The integration that every bot has from the start: its installation is the bot's chat address.
 * The version is the one that today's chat client and tools look for.
 */
export const builtInChat = {
  id: '6f1c1f5e-4c52-4d0e-9d0a-5b1d1f0c7a11',
  name: 'chat',
  alias: signalReceiver,
  version: '1.0.0',
  title: 'Chat',
  description: 'Web and app chat through the chat address of this server.',
} as const

/**
 * The versions of the chat in the hub, the newest first. They differ in nothing else: tools accept a chat only if
 * it has a version that they know, and install the one that they find in the hub. What is installed is always stored
 * under the first id.
 */
export const chatVersions = [
  { id: builtInChat.id, version: builtInChat.version },
  { id: '6f1c1f5e-4c52-4d0e-9d0a-5b1d1f0c7076', version: '0.7.6' },
] as const

/** Other names by which bots call its actions: those that were written for a web chat. */
export const namesOfChat: ReadonlySet<string> = new Set(['webchat'])

/** The id under which a version of the chat is in the hub. */
export function chatIdOf(version: string): string {
  return chatVersions.find((chat) => chat.version === version)?.id ?? builtInChat.id
}

/** Whether an integration is the chat, in any of its versions. */
export function isChatId(id: string): boolean {
  return chatVersions.some((chat) => chat.id === id)
}

/** Settings of the chat installation; all optional texts. */
const textSettings = [
  // Verifies user keys: with it, apps sign the keys of users and createUser is refused.
  'encryptionKey',
  // The address to which every signal is posted, and the value of the header `x-secret-key`.
  'webhookUrl',
  'webhookSecret',
]

/**
 * Validates the settings of a chat installation. A misspelt one would leave a chat open, or silent.
 */
export function requireChatConfiguration(
  field: string,
  configuration: Record<string, unknown>,
): Record<string, unknown> {
  for (const name of Object.keys(configuration)) {
    if (textSettings.includes(name)) continue
    throw new ApiError('InvalidDataFormat', `${field}.${shortened(name)} ${adviceFor(name)}`)
  }
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

function adviceFor(name: string): string {
  const likeness = name.replaceAll(/[^a-z]/gi, '').toLowerCase()
  const known = new Map(textSettings.map((setting) => [setting.toLowerCase(), setting]))
  const guess = known.get(nearest(likeness.slice(0, 50), [...known.keys()]) ?? '')
  const settings = textSettings.join(', ')
  return `is no setting of chat, which has ${settings}.${guess ? ` Did you mean ${guess}?` : ''}`
}

function shortened(name: string): string {
  return name.length > 50 ? `${name.slice(0, 50)}…` : name
}

/** Whether the app wants every signal posted to an address of its own. */
export function postsSignals({ webhookUrl }: Record<string, unknown>): boolean {
  return typeof webhookUrl === 'string' && webhookUrl !== ''
}
