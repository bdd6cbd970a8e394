import { sql } from 'kysely'
import type { Migration } from '../platform/db/migrate.js'

/** Revisions, by which a process that keeps the vectors of a space in memory finds new ones. */
export const vectorRevisions: Migration = {
  name: '0016-vector-revisions',
  up: async (db, dialect) => {
    for (const column of ['size', 'revision']) {
      await db.schema
        .alterTable('semantic_spaces')
        .addColumn(column, 'integer', (definition) => definition.notNull().defaultTo(0))
        .execute()
    }
    await sql`update semantic_spaces set size = passages`.execute(db)
    if (dialect.name !== 'sqlite') return
    await sql`
      alter table passage_vectors add column revision integer not null default 0
    `.execute(db)
    await sql`
      create index passage_vectors_by_revision on passage_vectors (space, revision)
    `.execute(db)
  },
}
