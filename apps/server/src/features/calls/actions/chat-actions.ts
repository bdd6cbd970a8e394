import { ApiError } from '@botstead/contract'
import type { Chat } from '../../chat/index.js'

type JsonMap = Record<string, unknown>
type StreamInput = Parameters<Chat['publishMessageStream']>[1]

/** An action that this server does itself. Answers its output. */
export type BuiltInAction = (botId: string, input: JsonMap) => Promise<JsonMap>

/** The actions of the built-in chat, by name. */
export function createChatActions(
  chat: Pick<Chat, 'publishMessageStream' | 'sendEvent'>,
): ReadonlyMap<string, BuiltInAction> {
  return new Map<string, BuiltInAction>([
    [
      'publishMessageStream',
      async (botId, input) => {
        // What the signal has to be is checked where it is understood.
        await chat.publishMessageStream(botId, {
          conversationId: requireConversation(input),
          signal: requireMap(input, 'signal') as StreamInput['signal'],
        })
        return {}
      },
    ],
    [
      'sendEvent',
      async (botId, input) => {
        await chat.sendEvent(botId, {
          conversationId: requireConversation(input),
          payload: requireMap(input, 'payload'),
        })
        return {}
      },
    ],
  ])
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
