/** A message that a bot writes piece by piece, and the positions of its pieces in the log. */
export interface MessageStreamsTable {
  /** Native id. */
  conversation_id: string
  /** Chosen by the bot. */
  stream_id: string
  bot_id: string
  first_sequence: number
  last_sequence: number
  /** Of all pieces together. */
  characters: number
  pieces: number
  /** Time at which the pieces are emptied, which is later than the last one. */
  expires_at: string
}

declare module '../../platform/db/schema.js' {
  interface Schema {
    message_streams: MessageStreamsTable
  }
}
