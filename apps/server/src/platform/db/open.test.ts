import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import type { Schema } from '../../schema.js'
import type { Migration } from './migrate.js'
import { prepared } from './prepared.js'

type NotesTables = { notes: { id: string; text: string; size: number } }
type NotesSchema = Schema & NotesTables

const notes: Migration = {
  name: '0001-notes',
  up: async (tx) => {
    await tx.schema
      .createTable('notes')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('text', 'text', (column) => column.notNull())
      .addColumn('size', 'integer', (column) => column.notNull())
      .execute()
  },
}

const insertNote = prepared<{ id: string; text: string; size: number }, NotesSchema>()((db, p) =>
  db.insertInto('notes').values({ id: p('id'), text: p('text'), size: p('size') }),
)
const findNote = prepared<{ id: string }, NotesSchema>()((db, p) =>
  db.selectFrom('notes').selectAll().where('id', '=', p('id')),
)

describeEachEngine('a database', (engine) => {
  const database = useDatabase(engine, [notes])

  it('stores what a transaction wrote', async () => {
    const { db, run } = database()
    const written = await run(async (tx) => {
      const notes = tx.withTables<NotesTables>()
      return insertNote.affected(notes, { id: 'a', text: 'hello', size: 2 ** 40 })
    })
    expect(written).toBe(1)
    expect(await findNote(db.withTables<NotesTables>(), { id: 'a' })).toEqual([
      { id: 'a', text: 'hello', size: 2 ** 40 },
    ])
  })
})
