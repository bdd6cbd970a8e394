import { sql, type Transaction } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

export const passages: Migration = {
  name: '0007-passages',
  up: async (db, dialect) => {
    const isSqlite = dialect.name === 'sqlite'
    // SQLite counts up by itself, and only a declared number survives a copy of the file.
    const number = isSqlite ? 'integer' : sql`bigint generated always as identity`
    await db.schema
      .createTable('passages')
      .addColumn('number', number, (column) => column.primaryKey())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('file_id', 'text', (column) => column.notNull())
      .addColumn('generation', 'integer', (column) => column.notNull())
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('subtype', 'text', (column) => column.notNull())
      .addColumn('page_number', 'integer')
      .addColumn('content', 'text', (column) => column.notNull())
      .addColumn('headings', 'text', (column) => column.notNull())
      .addColumn('own_headings', 'text', (column) => column.notNull())
      .addColumn('start_offset', 'integer', (column) => column.notNull())
      .addColumn('end_offset', 'integer', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('passages_by_place')
      .unique()
      .on('passages')
      .columns(['file_id', 'generation', 'position'])
      .execute()
    await db.schema.createIndex('passages_by_bot').on('passages').column('bot_id').execute()
    await (isSqlite ? addSqliteWords(db) : addPostgresWords(db))
  },
}

/** The words of passages, weighted 3 in headings and 1 in the body; `scope` confines a query to a bot. */
async function addSqliteWords(db: Transaction<unknown>): Promise<void> {
  await sql`
    create virtual table passage_words using fts5(
      scope, headings, body,
      content = '', contentless_delete = 1,
      tokenize = "porter unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
    )
  `.execute(db)
  await sql`
    insert into passage_words (passage_words, rank) values ('rank', 'bm25(0.0, 3.0, 1.0)')
  `.execute(db)
  await sql`
    create trigger passages_leave_words after delete on passages begin
      delete from passage_words where rowid = old.number;
    end
  `.execute(db)
}

/** As on SQLite: English stems, no stopwords in the index, whatever the server's default is. */
async function addPostgresWords(db: Transaction<unknown>): Promise<void> {
  await sql`
    create text search dictionary botstead_stem (template = snowball, language = 'english')
  `.execute(db)
  await sql`
    create text search configuration botstead_words (parser = pg_catalog."default")
  `.execute(db)
  await sql`
    alter text search configuration botstead_words
      add mapping for asciiword, word, numword, hword, asciihword, numhword, hword_asciipart,
        hword_part, hword_numpart, int, uint, float, sfloat, version, email, url, url_path, host,
        file, tag, entity, protocol
      with botstead_stem
  `.execute(db)
  await sql`
    create table passage_words (
      number bigint primary key references passages (number) on delete cascade,
      words tsvector not null
    )
  `.execute(db)
  await sql`create index passage_words_by_word on passage_words using gin (words)`.execute(db)
}
