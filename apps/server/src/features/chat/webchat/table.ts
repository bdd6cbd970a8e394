import type { TimeColumn } from '../../../platform/db/columns.js'

/** The feedback of a participant on a message; a message has at most one. */
interface MessageFeedbackTable {
  message_id: string
  bot_id: string
  conversation_id: string
  /** Native id of the user who gave it. */
  user_id: string
  value: 'positive' | 'negative'
  comment: string | null
  created_at: TimeColumn
}

/** The admin secrets of chats. */
interface ChatSecretsTable {
  bot_id: string
  /** A keyed hash, in hex. */
  hash: string
  created_at: TimeColumn
}

/** The owners and sizes of files that chat users sent; their other columns are in `files`. */
export interface ChatFilesTable {
  file_id: string
  bot_id: string
  /** Native id of the user who sent it. */
  user_id: string
  /** Native id; null if it belongs to none. */
  conversation_id: string | null
  /** Bytes that the user declared. */
  size: number
  /** Time of the last check that the file exists. */
  checked_at: TimeColumn
}

/** Conversations that page views opened, until it is decided whether they are kept. */
export interface WebchatOpeningsTable {
  /** Native id. */
  conversation_id: string
  bot_id: string
  opened_at: TimeColumn
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    message_feedback: MessageFeedbackTable
    chat_secrets: ChatSecretsTable
    chat_files: ChatFilesTable
    webchat_openings: WebchatOpeningsTable
  }
}
