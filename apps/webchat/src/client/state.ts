import type { Configuration } from '../shared/bridge.js'
import type { Conversation, Message, User } from './api.js'
import type { Unsent } from './storage.js'

/** `waiting`: between two attempts to reconnect. `refused`: the server rejected the connection, see `refusal`. */
type Connection = 'connecting' | 'open' | 'waiting' | 'refused'

/** A message of this user that the server has not confirmed. */
export interface Outgoing extends Unsent {
  /** Error for which the server refused it: empty for a quota that is used up, undefined if it did not refuse it. */
  refusal?: string
}

/** The state that the chat displays. */
export interface ChatState {
  isOpen: boolean
  /** Whether the field for messages takes the focus when the chat opens. */
  takesFocus: boolean
  configuration: Configuration
  connection: Connection
  /** Whether a connection was open before: then the next one is a reconnection. */
  wasOpen: boolean
  /** Error for which the server rejected the connection. */
  refusal: string | undefined
  conversation: Conversation | undefined
  /** Whether the conversation stands in for one that the server no longer had; until the user writes in it. */
  isReplacement: boolean
  user: User | undefined
  participants: readonly User[]
  /** Oldest first. */
  messages: readonly Message[]
  /** Id of the newest message when the conversation was opened, if it had any; later ones are announced. */
  newestAtOpen: string | undefined
  outgoing: readonly Outgoing[]
  isTyping: boolean
  /** Whether the bot accepted a message or it was given up, by the ids of the message; others are only stored. */
  outcomes: ReadonlyMap<string, 'delivered' | 'failed'>
}

export interface Store {
  get(): ChatState
  set(patch: Partial<ChatState>): void
  subscribe(listener: () => void): () => void
}

export function createStore(configuration: Configuration): Store {
  let state: ChatState = {
    isOpen: false,
    takesFocus: false,
    configuration,
    connection: 'connecting',
    wasOpen: false,
    refusal: undefined,
    conversation: undefined,
    isReplacement: false,
    user: undefined,
    participants: [],
    messages: [],
    newestAtOpen: undefined,
    outgoing: [],
    isTyping: false,
    outcomes: new Map(),
  }
  const listeners = new Set<() => void>()
  return {
    get: () => state,
    set(patch) {
      state = { ...state, ...patch }
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** The id that the author gave a message; undefined without one. */
export function clientIdOf({ metadata }: Pick<Message, 'metadata'>): string | undefined {
  const id = metadata?.clientMessageId
  return typeof id === 'string' ? id : undefined
}

/** Whether a bot is still writing a message: its id is temporary, that of the author. */
export function isDraft(message: Message): boolean {
  return message.id === clientIdOf(message)
}

/** Returns the list with a message appended, or in place of its earlier version. */
export function upsert(messages: readonly Message[], message: Message): readonly Message[] {
  const own = clientIdOf(message)
  const index = messages.findIndex(
    (known) =>
      known.id === message.id ||
      (own !== undefined && clientIdOf(known) === own && known.userId === message.userId),
  )
  return index === -1 ? [...messages, message] : messages.with(index, message)
}
