import type { Signal } from '@botstead/contract'
import type { ChatMessage } from './queries.js'

/** A message that the bot is writing: the pieces that came so far, by their number. */
type Pieces = Readonly<Record<number, string>>

export interface ChatState {
  /** In the order of their times. */
  messages: readonly ChatMessage[]
  writing: ReadonlyMap<string, Pieces>
}

export const emptyChat: ChatState = { messages: [], writing: new Map() }

/** Adds messages that may be known already. */
export function addMessages(state: ChatState, added: readonly ChatMessage[]): ChatState {
  const byId = new Map([...state.messages, ...added].map((message) => [message.id, message]))
  const messages = [...byId.values()].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
  return { ...state, messages }
}

/** The chat after a signal. */
export function afterSignal(state: ChatState, signal: Signal): ChatState {
  switch (signal.type) {
    case 'message_created': {
      const { streamId } = signal.data.metadata ?? {}
      const rest = typeof streamId === 'string' ? without(state, streamId) : state
      return addMessages(rest, [signal.data])
    }
    case 'message_deleted': {
      const { id } = signal.data
      return { ...state, messages: state.messages.filter((message) => message.id !== id) }
    }
    case 'message_stream_delta': {
      const { streamId, sequence, delta } = signal.data
      const pieces = { ...state.writing.get(streamId), [sequence]: delta }
      return { ...state, writing: new Map(state.writing).set(streamId, pieces) }
    }
    case 'message_stream_complete':
      return addMessages(without(state, signal.data.streamId), [signal.data.message])
    case 'message_stream_abort':
      return without(state, signal.data.streamId)
    default:
      return state
  }
}

function without(state: ChatState, streamId: string): ChatState {
  const writing = new Map(state.writing)
  writing.delete(streamId)
  return { ...state, writing }
}

/** The text of a message that is being written, in the order of its pieces. */
export function textOf(pieces: Pieces): string {
  return Object.entries(pieces)
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([, delta]) => delta)
    .join('')
}
