import type { Generated } from 'kysely'

/** A message whose words are indexed. On PostgreSQL it has them too; on SQLite a table of FTS5 does. */
export interface MessageWordsTable {
  number: Generated<number>
  conversation_id: string
  message_id: string
}

/** Messages to index once more: changed ones, and those that were scheduled. */
interface MessageWordsDueTable {
  number: Generated<number>
  message_id: string
}

/** The progress of indexing messages: one row. */
interface MessageWordsProgressTable {
  name: 'all'
  /** Id of the last message; empty before the first. */
  last_id: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    message_words: MessageWordsTable
    message_words_due: MessageWordsDueTable
    message_words_progress: MessageWordsProgressTable
  }
}
