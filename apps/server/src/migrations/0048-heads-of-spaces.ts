import type { Migration } from '../platform/db/migrate.js'

/**
 * Every search reads the columns of a space beside its model, a blob of megabytes. SQLite stores columns in
 * order, and would read all pages of the model to reach those after it; the index has them by themselves.
 */
export const headsOfSpaces: Migration = {
  name: '0048-heads-of-spaces',
  up: async (db, dialect) => {
    if (dialect.name !== 'sqlite') return
    await db.schema
      .createIndex('semantic_spaces_heads')
      .on('semantic_spaces')
      .columns(['bot_id', 'serving', 'embedder', 'dimensions', 'passages', 'size', 'revision'])
      .execute()
    await db.schema.dropIndex('semantic_spaces_by_bot').execute()
  },
}
