import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { notesMigration, notesOf } from '../../../test/notes.js'
import { startProcess } from '../../../test/programs.js'
import { openDatabase } from './open.js'

describeEachEngine('a process killed while it writes', (engine) => {
  const database = useDatabase(engine, [notesMigration])

  it('keeps every acknowledged transaction, and each one whole', async () => {
    const writer = startProcess('write-notes', database().options)
    await writer.written(500)
    writer.process.kill('SIGKILL')
    await writer.ended()
    const acknowledged = [...writer.lines]

    await using reopened = await openDatabase(database().options)
    const rows = await notesOf(reopened).db.selectFrom('notes').select('id').execute()
    const ids = new Set(rows.map((row) => row.id))
    expect(acknowledged.filter((id) => !ids.has(id))).toEqual([])
    const halves = [...ids].filter((id) => !ids.has(`${id}-more`) && !id.endsWith('-more'))
    expect(halves).toEqual([])
    if (engine.name === 'sqlite') {
      const { rows: report } = await sql`pragma integrity_check`.execute(reopened.db)
      expect(report).toEqual([{ integrity_check: 'ok' }])
    }
  })
})
