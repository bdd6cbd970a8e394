import { ApiError } from '@botstead/contract'
import { encodePayload } from '../../../domain/payload.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import {
  type ConversationsService,
  conversationEvents,
} from '../../conversations/conversations/index.js'
import type { UsersService } from '../../conversations/users/index.js'
import type { ServerAction } from '../../feature.js'
import { misshapen, requireText } from '../action-input.js'

export interface WebchatActionsDeps {
  db: Db
  run: Run
  conversations: Pick<ConversationsService, 'appendEvent'>
  users: Pick<UsersService, 'find'>
  /** Maximum bytes of the data of a signal. */
  maxPayloadBytes: number
}

type SignalType = (typeof conversationEvents)[
  | 'typingStarted'
  | 'typingStopped'
  | 'webchatVisibility'
  | 'webchatConfig'
  | 'webchatCustom']
type JsonMap = Record<string, unknown>

const maxTimeoutMs = 600_000

/** The actions with which bots control the web chat and its page, by the names of the official integration. */
export function createWebchatActions(
  deps: WebchatActionsDeps,
): Readonly<Record<string, ServerAction>> {
  const { db, run, conversations, users, maxPayloadBytes } = deps

  /** Makes an action that sends a signal to present listeners; the signal is not part of the conversation. */
  const signal =
    (type: SignalType, dataOf: (input: JsonMap) => JsonMap): ServerAction =>
    async (botId, input) => {
      const id = requireText(input, 'conversationId')
      const data = dataOf(input)
      encodePayload(data, maxPayloadBytes, 'input')
      const draft = { type, subjectId: '', data }
      const appended = await run((tx) => conversations.appendEvent(tx, { botId, id }, draft))
      if (appended !== undefined) return {}
      throw new ApiError(
        'ResourceNotFound',
        `input.conversationId: there is no conversation ${id}.`,
      )
    }
  const setVisibility = (visibility: 'show' | 'hide' | 'toggle') =>
    signal(conversationEvents.webchatVisibility, () => ({ visibility }))

  return {
    showWebchat: setVisibility('show'),
    hideWebchat: setVisibility('hide'),
    toggleWebchat: setVisibility('toggle'),
    configWebchat: signal(conversationEvents.webchatConfig, (input) => ({
      config: requireJsonMap(input, 'config'),
    })),
    customEvent: signal(conversationEvents.webchatCustom, (input) => ({
      event: requireJsonMap(input, 'event'),
    })),
    startTypingIndicator: signal(conversationEvents.typingStarted, timeoutOf),
    stopTypingIndicator: signal(conversationEvents.typingStopped, () => ({})),

    async getUserData(botId, input) {
      const user = await users.find(db, botId, requireText(input, 'userId'))
      return user?.data ? { userData: decodeJson<JsonMap>(user.data) } : {}
    },
  }
}

function timeoutOf({ timeout }: JsonMap): JsonMap {
  if (timeout === undefined) return {}
  if (typeof timeout === 'number' && timeout >= 0 && timeout <= maxTimeoutMs) return { timeout }
  throw misshapen('timeout', `must be a number of milliseconds from 0 to ${maxTimeoutMs}.`)
}

/** An object, or its JSON as text, which is what existing bots send. */
function requireJsonMap(input: JsonMap, name: string): JsonMap {
  const value = typeof input[name] === 'string' ? parseJson(input[name]) : input[name]
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value))
  }
  throw misshapen(name, 'must be an object, or a string with the JSON of one.')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
