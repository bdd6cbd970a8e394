/** A message that a bot writes piece by piece, and where its pieces stand in the log. */
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
  /** Some time after the last piece; then the pieces are emptied. */
  expires_at: string
}

declare module '../../platform/db/schema.js' {
  interface Schema {
    message_streams: MessageStreamsTable
  }
}
