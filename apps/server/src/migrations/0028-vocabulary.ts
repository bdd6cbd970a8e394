import { sql, type Transaction } from 'kysely'
import { toWords } from '../features/search/text/words.js'
import type { Migration } from '../platform/db/migrate.js'

/** Passages that are read at a time. */
const batchSize = 500

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
    await fill(db)
  },
}

interface PassageRow {
  number: number
  bot_id: string
  content: string
  headings: string
}

/** Bots that were there before get their words too. */
async function fill(db: Transaction<unknown>): Promise<void> {
  for (let last = -1; ; ) {
    const { rows } = await sql<PassageRow>`
      select number, bot_id, content, headings from passages
      where number > ${last} order by number limit ${batchSize}
    `.execute(db)
    const [end] = rows.slice(-1)
    if (end === undefined) return
    last = Number(end.number)
    for (const botId of new Set(rows.map((row) => row.bot_id))) {
      const texts = rows.filter((row) => row.bot_id === botId)
      const words = toWords(texts.map(({ content, headings }) => `${headings} ${content}`))
      if (words.length === 0) continue
      const values = words.map(({ word, reversed }) => sql`(${botId}, ${word}, ${reversed})`)
      for (let start = 0; start < values.length; start += batchSize) {
        await sql`
          insert into bot_words (bot_id, word, reversed)
          values ${sql.join(values.slice(start, start + batchSize))}
          on conflict do nothing
        `.execute(db)
      }
    }
  }
}
