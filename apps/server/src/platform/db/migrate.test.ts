import { existsSync } from 'node:fs'
import { sql } from 'kysely'
import pino from 'pino'
import { expect, it } from 'vitest'
import { describeEachEngine, engines, type TestEngine } from '../../../test/engines.js'
import { note, notesMigration, notesOf } from '../../../test/notes.js'
import { startProcess } from '../../../test/programs.js'
import { DatabaseHistoryError } from './errors.js'
import { type Migration, migrate } from './migrate.js'
import { type Database, openDatabase } from './open.js'

const addColumn: Migration = {
  name: '0002-count',
  up: async (tx) => {
    await tx.schema
      .alterTable('notes')
      .addColumn('count', 'integer', (column) => column.notNull().defaultTo(7))
      .execute()
  },
}

const failing: Migration = {
  name: '0003-failing',
  up: async (tx) => {
    await tx.schema.dropTable('notes').execute()
    throw new Error('cannot be done')
  },
}

/** Runs a test on a fresh, empty database. */
async function withDatabase(
  engine: TestEngine,
  test: (database: Database) => Promise<void>,
): Promise<void> {
  const place = await engine.createPlace()
  try {
    await using database = await openDatabase(place.options)
    await test(database)
  } finally {
    await place.remove()
  }
}

async function columnsOf(database: Database, table: string): Promise<string[]> {
  const { rows } =
    database.dialect.name === 'sqlite'
      ? await sql<{ name: string }>`select name from pragma_table_info(${table})`.execute(
          database.db,
        )
      : await sql<{ name: string }>`
          select column_name as name from information_schema.columns where table_name = ${table}
        `.execute(database.db)
  return rows.map((row) => row.name)
}

describeEachEngine('migrating', (engine) => {
  it('takes each step once, in order, and logs how many', async () => {
    await withDatabase(engine, async (database) => {
      const lines: string[] = []
      const log = pino({ base: null, timestamp: false }, { write: (line) => lines.push(line) })
      expect(await migrate(database, [notesMigration], log)).toEqual(['0001-notes'])
      expect(await migrate(database, [notesMigration, addColumn], log)).toEqual(['0002-count'])
      expect(await migrate(database, [notesMigration, addColumn], log)).toEqual([])
      expect(await columnsOf(database, 'notes')).toContain('count')
      const logged = lines
        .map((line) => JSON.parse(line))
        .filter(({ msg }) => msg === 'database migrated')
      expect(logged).toEqual([
        expect.objectContaining({ steps: 1, milliseconds: expect.any(Number) }),
        expect.objectContaining({ steps: 1, milliseconds: expect.any(Number) }),
      ])
    })
  })

  it('keeps the rows there are', async () => {
    await withDatabase(engine, async (database) => {
      await migrate(database, [notesMigration])
      await notesOf(database).run((tx) => tx.insertInto('notes').values(note('old')).execute())
      await migrate(database, [notesMigration, addColumn])
      const { rows } = await sql`select id, count from notes`.execute(database.db)
      expect(rows).toEqual([{ id: 'old', count: 7 }])
    })
  })

  it('takes all pending steps or none', async () => {
    await withDatabase(engine, async (database) => {
      await migrate(database, [notesMigration])
      const all = [notesMigration, addColumn, failing]
      await expect(migrate(database, all)).rejects.toThrow('cannot be done')
      expect(await columnsOf(database, 'notes')).not.toContain('count')
      expect(await migrate(database, [notesMigration, addColumn])).toEqual(['0002-count'])
    })
  })

  it('refuses a database that a newer release has migrated', async () => {
    await withDatabase(engine, async (database) => {
      await migrate(database, [notesMigration, addColumn])
      const older = migrate(database, [notesMigration])
      await expect(older).rejects.toThrow(DatabaseHistoryError)
      await expect(older).rejects.toThrow('newer release, which added 0002-count')
    })
  })

  it('refuses a history with a hole, and a list out of order', async () => {
    await withDatabase(engine, async (database) => {
      await migrate(database, [notesMigration, addColumn])
      const between = { ...addColumn, name: '0001-squeezed-in' }
      await expect(migrate(database, [notesMigration, between, addColumn])).rejects.toThrow(
        DatabaseHistoryError,
      )
      await expect(migrate(database, [addColumn, notesMigration])).rejects.toThrow('must ascend')
    })
  })

  it('knows no column kinds but the portable ones', async () => {
    await withDatabase(engine, async (database) => {
      const typed: Migration = {
        name: '0001-typed',
        up: async (tx) => {
          await tx.schema.createTable('typed').addColumn('at', 'timestamptz').execute()
        },
      }
      await expect(migrate(database, [typed])).rejects.toThrow('timestamptz is not portable')
    })
  })

  it('makes columns that refuse values of another kind', async () => {
    await withDatabase(engine, async (database) => {
      await migrate(database, [notesMigration])
      const wrong = database.run((tx) =>
        sql`insert into notes (id, text, size) values ('a', '', 'many')`.execute(tx),
      )
      await expect(wrong).rejects.toThrow()
    })
  })

  it('is done once by processes that start together', async () => {
    const place = await engine.createPlace()
    try {
      const starts = Array.from({ length: 3 }, () => startProcess('migrate-notes', place.options))
      const codes = await Promise.all(starts.map((start) => start.ended()))
      expect(codes).toEqual([0, 0, 0])
      const steps = starts.flatMap((start) => JSON.parse(start.lines[0] ?? ''))
      expect(steps.toSorted()).toEqual(['0001-notes', '0002-count'])
    } finally {
      await place.remove()
    }
  })
})

const sqlite = engines[0]

it('copies a SQLite file with a history before it changes it', async () => {
  if (sqlite === undefined) throw new Error('There is no engine')
  const place = await sqlite.createPlace()
  try {
    await using database = await openDatabase(place.options)
    const copy = `${place.options.file}.before-migration`
    await migrate(database, [notesMigration])
    expect(existsSync(copy)).toBe(false)
    await notesOf(database).run((tx) => tx.insertInto('notes').values(note('old')).execute())
    await migrate(database, [notesMigration, addColumn])
    await using before = await openDatabase({ file: copy })
    expect(await columnsOf(before, 'notes')).not.toContain('count')
    expect(await notesOf(before).db.selectFrom('notes').select('id').execute()).toEqual([
      { id: 'old' },
    ])
  } finally {
    await place.remove()
  }
})

it('rebuilds a SQLite table that others refer to, but leaves no reference dangling', async () => {
  if (sqlite === undefined) throw new Error('There is no engine')
  await withDatabase(sqlite, async (database) => {
    await migrate(database, [notesMigration])
    await notesOf(database).run(async (tx) => {
      await tx.insertInto('notebooks').values({ id: 'book', last_seq: 0 }).execute()
      await tx
        .insertInto('notes')
        .values({ ...note('page'), notebook_id: 'book' })
        .execute()
    })
    const rebuild = (name: string, rows: string): Migration => ({
      name,
      up: async (tx) => {
        await sql`create table rebuilt (id text primary key, title text) strict`.execute(tx)
        await sql`insert into rebuilt (id) ${sql.raw(rows)}`.execute(tx)
        await tx.schema.dropTable('notebooks').execute()
        await tx.schema.alterTable('rebuilt').renameTo('notebooks').execute()
      },
    })
    const loseRows = rebuild('0002-rebuild', "select id from notebooks where id = ''")
    await expect(migrate(database, [notesMigration, loseRows])).rejects.toThrow(
      '1 rows that refer to missing rows',
    )
    const keepRows = rebuild('0002-rebuild', 'select id from notebooks')
    expect(await migrate(database, [notesMigration, keepRows])).toEqual(['0002-rebuild'])
    const { rows } = await sql`select id, title from notebooks`.execute(database.db)
    expect(rows).toEqual([{ id: 'book', title: null }])
  })
})
