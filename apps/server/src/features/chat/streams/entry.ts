import type { StoredEvent } from '../../../platform/events/read.js'
import type { Frame } from '../../../platform/streams/frame.js'

/** A conversation with listeners. */
export interface FollowedConversation {
  botId: string
  /** Native id: the name of its log. */
  id: string
  /** The id under which its participants know it. */
  publicId: string
}

/** A piece of a message that a bot is still writing. */
export interface Piece {
  streamId: string
  /** Id under which participants know the bot. */
  userId: string
  createdAt: string
  /** Place of the piece among those of the message, as the bot counts them. */
  sequence: number
  delta: string
  clientMessageId?: string
}

/** One event of the log, as listeners get it. */
export interface Entry {
  sequence: number
  /** Time of the change in milliseconds since the Unix epoch. */
  at: number
  /** What is sent, in order; nothing if the subject of the event is gone. */
  frames: readonly Frame[]
  /** Native id of the user who was removed from the conversation. */
  removed?: string
  /** Whether it is the last event of the conversation. */
  last?: boolean
  /** Set if the event is a piece of a message. */
  piece?: Piece
  /** Id of the message stream that the event ended. */
  finished?: string
}

/** Turns events of one conversation into entries: one for each, in the same order. */
export type Render = (
  conversation: FollowedConversation,
  events: readonly StoredEvent[],
) => Promise<Entry[]>
