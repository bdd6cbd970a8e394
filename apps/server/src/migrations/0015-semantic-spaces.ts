import { sql, type Transaction } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

export const semanticSpaces: Migration = {
  name: '0015-semantic-spaces',
  up: async (db, dialect) => {
    const isSqlite = dialect.name === 'sqlite'
    const number = isSqlite ? 'integer' : sql`bigint generated always as identity`
    await db.schema
      .createTable('semantic_spaces')
      .addColumn('number', number, (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('embedder', 'text', (column) => column.notNull())
      .addColumn('dimensions', 'integer', (column) => column.notNull())
      .addColumn('serving', 'integer', (column) => column.notNull())
      .addColumn('passages', 'integer', (column) => column.notNull())
      .addColumn('model', 'blob')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('semantic_spaces_by_bot')
      .on('semantic_spaces')
      .columns(['bot_id', 'serving'])
      .execute()
    // Written with the passages, worked off by a job.
    await db.schema
      .createTable('passages_without_vector')
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('number', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('passages_without_vector_key', ['bot_id', 'number'])
      .execute()
    await (isSqlite ? addSqliteVectors(db) : addPostgresCascade(db))
    // Bots that were there before get their vectors too.
    await sql`
      insert into passages_without_vector (bot_id, number) select bot_id, number from passages
    `.execute(db)
  },
}

/**
 * Vectors lie in an ordinary table: sqlite-vec compares them by its functions, which is as fast as its own
 * kind of table, takes vectors of any length and lets deleting work where the extension is missing.
 */
async function addSqliteVectors(db: Transaction<unknown>): Promise<void> {
  await sql`
    create table passage_vectors (
      space integer not null,
      number integer not null,
      vector blob not null,
      signature blob not null,
      primary key (space, number)
    ) strict, without rowid
  `.execute(db)
  // A scan of a large space reads the short signatures only.
  await sql`
    create index passage_vectors_by_signature on passage_vectors (space, number, signature)
  `.execute(db)
  await sql`
    create virtual table passage_vocabulary using fts5vocab('passage_words', 'row')
  `.execute(db)
  await sql`
    create trigger passages_leave_vectors after delete on passages begin
      delete from passage_vectors where number = old.number
        and space in (select number from semantic_spaces where bot_id = old.bot_id);
      delete from passages_without_vector where bot_id = old.bot_id and number = old.number;
    end
  `.execute(db)
}

/** The vectors themselves need an extension that may come later; see `vectors/postgres-vectors.ts`. */
async function addPostgresCascade(db: Transaction<unknown>): Promise<void> {
  // As on SQLite, where every index ends with the number.
  await sql`create index passages_by_bot_and_number on passages (bot_id, number)`.execute(db)
  await sql`
    create index passages_without_vector_by_number on passages_without_vector (number)
  `.execute(db)
  await sql`
    alter table passages_without_vector add foreign key (number)
      references passages (number) on delete cascade
  `.execute(db)
}
