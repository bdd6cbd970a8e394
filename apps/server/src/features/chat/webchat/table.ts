import type { TimeColumn } from '../../../platform/db/columns.js'

/** What a participant thinks of a message; each message has one at most. */
interface MessageFeedbackTable {
  message_id: string
  bot_id: string
  conversation_id: string
  /** Who gave it, by native id. */
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

/** The files that chat users sent, of which `files` has the rest. */
export interface ChatFilesTable {
  file_id: string
  bot_id: string
  /** Who sent it, by native id. */
  user_id: string
  /** Native id; null if it belongs to none. */
  conversation_id: string | null
  /** Bytes as announced. */
  size: number
  /** When it was last known that the file exists. */
  checked_at: TimeColumn
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    message_feedback: MessageFeedbackTable
    chat_secrets: ChatSecretsTable
    chat_files: ChatFilesTable
  }
}
