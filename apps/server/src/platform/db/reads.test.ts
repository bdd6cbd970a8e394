import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeEachEngine, engines, useDatabase } from '../../../test/engines.js'
import { note, notesMigration, notesOf } from '../../../test/notes.js'
import { type DatabaseReads, openReads } from './open.js'
import type { Db } from './schema.js'

describeEachEngine('reads', (engine) => {
  const database = useDatabase(engine, [notesMigration])
  let reads: DatabaseReads
  beforeAll(async () => {
    reads = await openReads({ ...database().options, poolSize: 2 })
  })
  afterAll(() => reads.close())

  const addNote = (id: string) =>
    notesOf(database()).run((tx) => tx.insertInto('notes').values(note(id)).execute())

  const countNotes = async (db: Db) => {
    const { rows } = await sql<{ count: number }>`select count(*) as count from notes`.execute(db)
    return Number(rows[0]?.count)
  }

  it('of one snapshot agree, whatever is written meanwhile', async () => {
    await reads.snapshot(async (db) => {
      const before = await countNotes(db)
      await addNote('meanwhile')
      expect(await countNotes(db)).toBe(before)
    })
    expect(await reads.snapshot(countNotes)).toBe(await countNotes(database().db))
  })

  it('of the next snapshot see what was written before it', async () => {
    const before = await reads.snapshot(countNotes)
    await addNote('before')
    expect(await reads.snapshot(countNotes)).toBe(before + 1)
  })

  it('refuse to write', async () => {
    const written = reads.snapshot((db) =>
      sql`insert into notebooks values ('refused', 1)`.execute(db),
    )
    await expect(written).rejects.toThrow(/read-?only/)
  })

  it('go on after a query has failed', async () => {
    const failed = reads.snapshot((db) => sql`select 1 from nowhere`.execute(db))
    await expect(failed).rejects.toThrow('nowhere')
    expect(await reads.snapshot(countNotes)).toBe(await countNotes(database().db))
  })
})

const postgres = engines.find(({ name }) => name === 'postgres')

describe.runIf(postgres)('reads on PostgreSQL', () => {
  if (postgres === undefined) return
  const database = useDatabase(postgres, [notesMigration])

  it('go on on another connection when theirs has ended', async () => {
    const reads = await openReads({ ...database().options, poolSize: 1 })
    try {
      const ended = reads.snapshot((db) =>
        sql`select pg_terminate_backend(pg_backend_pid())`.execute(db),
      )
      await expect(ended).rejects.toThrow()
      const { rows } = await reads.snapshot((db) => sql`select 1 as one`.execute(db))
      expect(rows).toEqual([{ one: 1 }])
    } finally {
      await reads.close()
    }
  })
})
