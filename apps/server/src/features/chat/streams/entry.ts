import type { StoredEvent } from '../../../platform/events/read.js'
import type { Frame } from '../../../platform/streams/frame.js'

/** A conversation with listeners. */
export interface FollowedConversation {
  botId: string
  /** Native id: the name of its log. */
  id: string
  /** Its public id. */
  publicId: string
}

/** A piece of a message in progress. */
export interface Piece {
  streamId: string
  /** Public id of the bot. */
  userId: string
  /** ISO 8601 time. */
  createdAt: string
  /** Position of the piece in the message, as the bot counts. */
  sequence: number
  delta: string
  clientMessageId?: string
}

/** One event of the log, rendered for listeners. */
export interface Entry {
  /** Number of the event in the log of its conversation, from 1. */
  sequence: number
  /** Time of the change in milliseconds since the Unix epoch. */
  at: number
  /** Frames to send, in order; none if the subject of the event was deleted. */
  frames: readonly Frame[]
  /** Native id of the user who was removed from the conversation. */
  removed?: string
  /** Whether this is the last event of the conversation. */
  last?: boolean
  /** Set if the event is a piece of a message. */
  piece?: Piece
  /** Id of the message stream that the event ended. */
  finished?: string
}

/** Signals that are not in the log of a conversation. */
export interface Beside {
  /** Topic of the hints that they may have changed; the key is the native id of the conversation. */
  topic: string
  /** Returns the current signals, by their subject. */
  read(conversation: FollowedConversation): Promise<ReadonlyMap<string, Frame>>
}

/** Renders events of one conversation as entries: one for each, in the same order. */
export type Render = (
  conversation: FollowedConversation,
  events: readonly StoredEvent[],
) => Promise<Entry[]>
