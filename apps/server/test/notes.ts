import type { Kysely, Transaction } from 'kysely'
import type { Migration } from '../src/platform/db/migrate.js'
import type { Database } from '../src/platform/db/open.js'
import type { Schema } from '../src/platform/db/schema.js'

/** Tables that only tests of the storage layer use: one of everything a column can be. */
type NotesTables = {
  notebooks: { id: string; last_seq: number }
  notes: {
    id: string
    notebook_id: string | null
    text: string
    size: number
    ratio: number | null
    data: Uint8Array | null
  }
}

export type NotesSchema = Schema & NotesTables

export const notesMigration: Migration = {
  name: '0001-notes',
  up: async (tx) => {
    await tx.schema
      .createTable('notebooks')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('last_seq', 'integer', (column) => column.notNull())
      .execute()
    await tx.schema
      .createTable('notes')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('notebook_id', 'text', (column) => column.references('notebooks.id'))
      .addColumn('text', 'text', (column) => column.notNull())
      .addColumn('size', 'integer', (column) => column.notNull())
      .addColumn('ratio', 'real')
      .addColumn('data', 'blob')
      .execute()
  },
}

/** A database seen through the tables of notes. */
export interface NotesDatabase {
  readonly db: Kysely<NotesSchema>
  run<T>(work: (tx: Transaction<NotesSchema>) => Promise<T>): Promise<T>
}

export function notesOf(database: Database): NotesDatabase {
  return {
    db: database.db.withTables<NotesTables>(),
    run: (work) => database.run((tx) => work(tx.withTables<NotesTables>())),
  }
}

export function note(id: string, text = '', size = 0) {
  return { id, notebook_id: null, text, size, ratio: null, data: null }
}
