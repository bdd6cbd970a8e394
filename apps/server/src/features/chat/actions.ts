import { ApiError } from '@botstead/contract'
import type { ServerAction } from '../feature.js'
import type { MessageStreamInput } from './message-streams.js'

type JsonMap = Record<string, unknown>

interface ChatActionsDeps {
  publishMessageStream(botId: string, input: MessageStreamInput): Promise<void>
  sendEvent(botId: string, input: { conversationId: string; payload: JsonMap }): Promise<unknown>
}

/** The actions of the built-in chat, by name. */
export function createChatActions(chat: ChatActionsDeps): Readonly<Record<string, ServerAction>> {
  return {
    async publishMessageStream(botId, input) {
      // The content of the signal is validated where it is published.
      await chat.publishMessageStream(botId, {
        conversationId: requireConversation(input),
        signal: requireMap(input, 'signal') as MessageStreamInput['signal'],
      })
      return {}
    },

    async sendEvent(botId, input) {
      await chat.sendEvent(botId, {
        conversationId: requireConversation(input),
        payload: requireMap(input, 'payload'),
      })
      return {}
    },
  }
}

function requireConversation({ conversationId }: JsonMap): string {
  if (typeof conversationId === 'string' && /^.{1,200}$/s.test(conversationId)) {
    return conversationId
  }
  throw misshapen('conversationId', 'must be a string of 1 to 200 characters.')
}

function requireMap(input: JsonMap, name: string): JsonMap {
  const value = input[name]
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value))
  }
  throw misshapen(name, 'must be an object.')
}

function misshapen(name: string, rule: string): ApiError {
  return new ApiError('InvalidDataFormat', `body.input.${name} ${rule}`, {
    metadata: { in: 'body', field: `input.${name}` },
  })
}
