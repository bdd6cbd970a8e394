import { sql, type Transaction } from 'kysely'
import { isoTime, systemClock } from '../platform/clock.js'
import type { Migration } from '../platform/db/migrate.js'
import { createIds } from '../platform/ids.js'

type Tables = {
  passages: { bot_id: string }
  jobs: Record<string, string | number | null>
}

/** The words of each bot, forwards and backwards, so that the last part of a word can be looked up too. */
export const vocabulary: Migration = {
  name: '0028-vocabulary',
  up: async (db, dialect) => {
    const isSqlite = dialect.name === 'sqlite'
    const text = sql.raw(dialect.columnTypes.get('text') ?? 'text')
    // The key is all there is to a row.
    await sql`
      create table bot_words (
        bot_id ${text} not null,
        word ${text} not null,
        reversed ${text} not null,
        primary key (bot_id, word)
      ) ${sql.raw(isSqlite ? 'strict, without rowid' : '')}
    `.execute(db)
    await sql`create index bot_words_by_end on bot_words (bot_id, reversed)`.execute(db)
    if (isSqlite) await sql`drop table passage_vocabulary`.execute(db)
    await listLater(db.withTables<Tables>())
  },
}

/**
 * Bots that were there before get their words too, by jobs: to cut all passages into words would hold the
 * start for half a minute per 100,000.
 */
async function listLater(db: Transaction<Tables>): Promise<void> {
  const bots = await db.selectFrom('passages').select('bot_id').distinct().execute()
  const ids = createIds()
  const now = isoTime(systemClock.now())
  for (const { bot_id: botId } of bots) {
    const row = {
      id: ids.next('job'),
      kind: 'search.words',
      key: botId,
      payload: JSON.stringify({ botId }),
      state: 'waiting',
      priority: 2,
      due_at: now,
      follow_up_at: null,
      attempts: 0,
      max_attempts: 20,
      deadline_milliseconds: 3_600_000,
      claims: 0,
      owner: null,
      last_error: null,
      created_at: now,
      updated_at: now,
    }
    await db.insertInto('jobs').values(row).execute()
  }
}
