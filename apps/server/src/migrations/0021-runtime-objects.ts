import { createHash } from 'node:crypto'
import type { Transaction } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

const rowsAtOnce = 200

export const runtimeObjects: Migration = {
  name: '0021-runtime-objects',
  up: async (db) => {
    await db.schema
      .alterTable('users')
      .addColumn('attributes', 'text', (column) => column.notNull().defaultTo('{}'))
      .execute()
    await db.schema
      .createIndex('users_by_update')
      .on('users')
      .columns(['bot_id', 'updated_at', 'id'])
      .execute()
    await db.schema.alterTable('messages').addColumn('origin', 'text').execute()
    await db.schema
      .createIndex('messages_by_bot')
      .on('messages')
      .columns(['bot_id', 'created_at', 'id'])
      .execute()

    await db.schema
      .createTable('tag_index')
      .addColumn('object_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addColumn('value_hash', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('tag_index_key', ['object_id', 'name'])
      .execute()
    // By hash: PostgreSQL takes no more than about 2,700 bytes into an index.
    await db.schema
      .createIndex('tag_index_by_value')
      .on('tag_index')
      .columns(['bot_id', 'kind', 'name', 'value_hash', 'object_id'])
      .execute()
    await indexConversations(db)

    await db.schema
      .createTable('scheduled_messages')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('bot_id', 'text', (column) => column.notNull())
      .addColumn('conversation_id', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('payload', 'text', (column) => column.notNull())
      .addColumn('direction', 'text', (column) => column.notNull())
      .addColumn('tags', 'text')
      .addColumn('origin', 'text')
      .addColumn('due_at', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('scheduled_messages_by_conversation')
      .on('scheduled_messages')
      .columns(['bot_id', 'conversation_id'])
      .execute()
  },
}

/** A table that this migration reads or writes, as it was at this point of the history. */
interface Tables {
  conversations: { id: string; bot_id: string; tags: string }
  tag_index: {
    object_id: string
    name: string
    bot_id: string
    kind: string
    value: string
    value_hash: string
  }
}

/** Conversations could carry tags before there was an index of them. */
async function indexConversations(untyped: Transaction<unknown>): Promise<void> {
  const db = untyped as Transaction<Tables>
  let after = ''
  for (;;) {
    const rows = await db
      .selectFrom('conversations')
      .select(['id', 'bot_id', 'tags'])
      .where('id', '>', after)
      .where('tags', '<>', '{}')
      .orderBy('id')
      .limit(rowsAtOnce)
      .execute()
    for (const { id, bot_id, tags } of rows) {
      const entries = Object.entries<string>(JSON.parse(tags))
      await db
        .insertInto('tag_index')
        .values(
          entries.map(([name, value]) => ({
            object_id: id,
            name,
            bot_id,
            kind: 'conversation',
            value,
            value_hash: createHash('sha256').update(value).digest('base64url'),
          })),
        )
        .execute()
      after = id
    }
    if (rows.length < rowsAtOnce) return
  }
}
