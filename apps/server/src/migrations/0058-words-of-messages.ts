import { sql, type Transaction } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

/**
 * The words of messages, to find conversations by what was said in them. A background task fills them in the order
 * of ids; `message_words_due` has those that it must read once more, or that got their id long before they were
 * written. Triggers keep that in one transaction with the message, without costing new messages anything.
 */
export const wordsOfMessages: Migration = {
  name: '0058-words-of-messages',
  up: async (db, dialect) => {
    const isSqlite = dialect.name === 'sqlite'
    const number = isSqlite ? 'integer' : sql`bigint generated always as identity`
    await db.schema
      .createTable('message_words_due')
      .addColumn('number', number, (column) => column.primaryKey())
      .addColumn('message_id', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('message_words_progress')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('last_id', 'text', (column) => column.notNull())
      .execute()
    await sql`insert into message_words_progress (name, last_id) values ('all', '')`.execute(db)
    const words = db.schema
      .createTable('message_words')
      .addColumn('number', number, (column) => column.primaryKey())
      .addColumn('conversation_id', 'text', (column) => column.notNull())
      .addColumn('message_id', 'text', (column) => column.notNull())
    await (isSqlite ? words : words.addColumn('words', sql`tsvector`)).execute()
    await db.schema
      .createIndex('message_words_by_message')
      .unique()
      .on('message_words')
      .columns(['conversation_id', 'message_id'])
      .execute()
    await (isSqlite ? addSqliteIndex(db) : addPostgresIndex(db))
  },
}

async function addSqliteIndex(db: Transaction<unknown>): Promise<void> {
  await sql`
    create virtual table message_word_index using fts5(
      scope, words, content = '', contentless_delete = 1,
      tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
    )
  `.execute(db)
  await sql`
    create trigger messages_leave_words after delete on messages begin
      delete from message_word_index where rowid in (
        select number from message_words
        where conversation_id = old.conversation_id and message_id = old.id
      );
      delete from message_words
      where conversation_id = old.conversation_id and message_id = old.id;
    end
  `.execute(db)
  await sql`
    create trigger messages_change_words after update of payload on messages
    when old.payload <> new.payload begin
      insert into message_words_due (message_id) values (new.id);
    end
  `.execute(db)
  await sql`
    create trigger scheduled_messages_get_words after delete on scheduled_messages begin
      insert into message_words_due (message_id) values (old.id);
    end
  `.execute(db)
}

async function addPostgresIndex(db: Transaction<unknown>): Promise<void> {
  await sql`create index message_words_by_word on message_words using gin (words)`.execute(db)
  await sql`
    create function messages_leave_words() returns trigger language plpgsql as $$
    begin
      delete from message_words
      where conversation_id = old.conversation_id and message_id = old.id;
      return null;
    end $$
  `.execute(db)
  await sql`
    create trigger messages_leave_words after delete on messages
    for each row execute function messages_leave_words()
  `.execute(db)
  await sql`
    create function message_words_are_due() returns trigger language plpgsql as $$
    begin
      insert into message_words_due (message_id) values (old.id);
      return null;
    end $$
  `.execute(db)
  await sql`
    create trigger messages_change_words after update of payload on messages
    for each row when (old.payload <> new.payload) execute function message_words_are_due()
  `.execute(db)
  await sql`
    create trigger scheduled_messages_get_words after delete on scheduled_messages
    for each row execute function message_words_are_due()
  `.execute(db)
}
