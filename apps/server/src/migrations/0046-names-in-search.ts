import { sql, type Transaction } from 'kysely'
import { isoTime, systemClock } from '../platform/clock.js'
import type { Migration } from '../platform/db/migrate.js'
import { createIds } from '../platform/ids.js'

type Tables = {
  passages: { bot_id: string }
  jobs: Record<string, string | number | null>
}

/** Adds the names of files to the search index, and distinguishes `ö` from `o`: passages are indexed anew. */
export const namesInSearch: Migration = {
  name: '0046-names-in-search',
  up: async (db, dialect) => {
    // A `tsvector` takes any weights, while FTS5 adds no column to a table.
    if (dialect.name === 'sqlite') await addSqliteIndex(db)
    await replaceLater(db.withTables<Tables>())
  },
}

/**
 * A table with columns for the folders and the name of a file beside the headings and the body. Search
 * still reads the former table until a job has emptied it.
 */
async function addSqliteIndex(db: Transaction<unknown>): Promise<void> {
  await sql`
    create virtual table passage_index using fts5(
      scope, folders, name, headings, body,
      content = '', contentless_delete = 1,
      tokenize = "porter unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
    )
  `.execute(db)
  await sql`
    insert into passage_index (passage_index, rank) values ('rank', 'bm25(0.0, 0.5, 2.0, 3.0, 1.0)')
  `.execute(db)
  await sql`drop trigger passages_leave_words`.execute(db)
  await sql`
    create trigger passages_leave_index after delete on passages begin
      delete from passage_words where rowid = old.number;
      delete from passage_index where rowid = old.number;
    end
  `.execute(db)
}

/** Enqueues a job for each bot: indexing all passages here would delay the start by minutes. */
async function replaceLater(db: Transaction<Tables>): Promise<void> {
  const bots = await db.selectFrom('passages').select('bot_id').distinct().execute()
  const ids = createIds()
  const now = isoTime(systemClock.now())
  for (const { bot_id: botId } of bots) {
    const row = {
      id: ids.next('job'),
      kind: 'search.names',
      key: botId,
      payload: JSON.stringify({ botId }),
      state: 'waiting',
      priority: 2,
      due_at: now,
      follow_up_at: null,
      attempts: 0,
      max_attempts: 20,
      deadline_milliseconds: 86_400_000,
      claims: 0,
      owner: null,
      last_error: null,
      created_at: now,
      updated_at: now,
    }
    await db.insertInto('jobs').values(row).execute()
  }
}
