import type { Db, Tx } from '../../../platform/db/schema.js'
import type { PhraseQuery } from './query.js'

/** A message and its indexed words. */
export interface WordEntry {
  message_id: string
  conversation_id: string
  bot_id: string
  /** As `toIndexText` returns it. */
  words: string
}

/** A message in the index. */
export interface FoundMessage {
  message_id: string
  conversation_id: string
}

/** The words of messages in one engine. */
export interface WordIndex {
  /** Adds entries; those of messages that have one already are left as they are. */
  add(tx: Tx, entries: readonly WordEntry[]): Promise<void>
  /** Removes the entries of messages. */
  remove(tx: Tx, messages: readonly FoundMessage[]): Promise<void>
  /** Messages of some bots that match the query, in no order, at most `limit`. */
  find(
    db: Db,
    botIds: readonly string[],
    query: PhraseQuery,
    limit: number,
  ): Promise<FoundMessage[]>
}
