import { sql, type Transaction } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

/** Rows of a large table. */
const rows = 1_000_000
/** Rows of it that belong to one bot, and to one object: a conversation, a file, a user. */
const ofBot = 100_000
const ofObject = 20
const ofTag = 1000

/**
 * For each index of some tables: how many rows the first of its columns select on average, how many the first
 * two, and so on. All indexes of a table must be here, because SQLite takes the others for selective.
 */
const statistics: Record<string, Record<string, readonly number[]>> = {
  conversations: {
    sqlite_autoindex_conversations_1: [1],
    sqlite_autoindex_conversations_2: [ofBot, 1],
    conversations_by_creation: [ofBot, 1, 1],
    conversations_by_update: [ofBot, 1, 1],
    conversations_by_owner: [ofBot, ofObject, 1, 1],
  },
  participants: {
    sqlite_autoindex_participants_1: [ofObject, 1],
    participants_by_user: [ofBot, ofObject, 1],
  },
  messages: {
    sqlite_autoindex_messages_1: [1],
    messages_by_conversation: [ofObject, 1],
    messages_by_bot: [ofBot, 1, 1],
  },
  tag_index: {
    sqlite_autoindex_tag_index_1: [ofObject, 1],
    tag_index_by_value: [ofBot, ofBot / 4, ofTag, ofObject, 1],
  },
  files: {
    sqlite_autoindex_files_1: [1],
    sqlite_autoindex_files_2: [ofBot, 1, 1],
    files_by_creation: [ofBot, 1, 1],
    files_by_update: [ofBot, 1, 1],
    files_by_size: [ofBot, ofObject, 1],
    files_by_status: [ofBot, ofBot / 4, 1],
    files_by_expiry: [ofObject],
  },
  file_tags: {
    sqlite_autoindex_file_tags_1: [ofObject, 1],
    file_tags_by_value: [ofBot, ofTag, ofObject, 1],
  },
  passages: {
    passages_by_place: [ofObject, ofObject, 1],
    passages_by_bot: [ofBot],
  },
}

/**
 * Tells SQLite how a grown database is made up. Without statistics it takes every first column of an index for
 * equally selective: it would read all rows of a bot to find those of one conversation or file, because the
 * index of the bot has their order too. The figures are fixed, so that plans are the same everywhere and do not
 * change with the data; `noskipscan` keeps it from trying every bot in turn.
 */
export const plannerStatistics: Migration = {
  name: '0049-planner-statistics',
  up: async (db, dialect) => {
    if (dialect.name === 'sqlite') await writeStatistics(db)
  },
}

async function writeStatistics(db: Transaction<unknown>): Promise<void> {
  // This makes the table of statistics, and reads it again after it was filled.
  await sql`analyze sqlite_schema`.execute(db)
  for (const [table, indexes] of Object.entries(statistics)) {
    await sql`delete from sqlite_stat1 where tbl = ${table}`.execute(db)
    for (const [index, averages] of Object.entries(indexes)) {
      const text = [rows, ...averages, 'noskipscan'].join(' ')
      await sql`
        insert into sqlite_stat1 (tbl, idx, stat) values (${table}, ${index}, ${text})
      `.execute(db)
    }
  }
  await sql`analyze sqlite_schema`.execute(db)
}
