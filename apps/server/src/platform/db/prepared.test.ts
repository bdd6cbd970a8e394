import { sql } from 'kysely'
import { expect, expectTypeOf, it, vi } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { type NotesSchema, note, notesMigration, notesOf } from '../../../test/notes.js'
import { openDatabase } from './open.js'
import { prepared, preparedPatch } from './prepared.js'

const insertNote = prepared<{ id: string; text: string; size: number }, NotesSchema>()((db, p) =>
  db.insertInto('notes').values({ id: p('id'), text: p('text'), size: p('size') }),
)

const insertReturning = prepared<{ id: string; size: number }, NotesSchema>()((db, p) =>
  db
    .insertInto('notes')
    .values({ id: p('id'), text: 'constant', size: p('size') })
    .returning(['id', 'text']),
)

const findNotes = prepared<{ from: number; max: number; prefix: string }, NotesSchema>()((db, p) =>
  db
    .selectFrom('notes')
    .select(['id', 'size'])
    .where('size', '>=', p('from'))
    .where('id', 'like', p('prefix'))
    .orderBy('size')
    .limit(p('max')),
)

const resize = prepared<{ prefix: string; size: number; note: string | null }, NotesSchema>()(
  (db, p) =>
    db
      .updateTable('notes')
      .set({ size: p('size'), notebook_id: p('note') })
      .where('id', 'like', p('prefix')),
)

describeEachEngine('a prepared query', (engine) => {
  const database = useDatabase(engine, [notesMigration])

  it('binds the values of each run', async () => {
    const { db, run } = notesOf(database())
    await run(async (tx) => {
      for (let size = 0; size < 5; size += 1) {
        await insertNote(tx, { id: `bound-${size}`, text: 'x', size })
      }
    })
    expect(await findNotes(db, { prefix: 'bound-%', from: 1, max: 2 })).toEqual([
      { id: 'bound-1', size: 1 },
      { id: 'bound-2', size: 2 },
    ])
    expect(await findNotes(db, { prefix: 'bound-%', from: 3, max: 10 })).toHaveLength(2)
  })

  it('returns the first row, or undefined', async () => {
    const { db, run } = notesOf(database())
    await run((tx) => insertNote(tx, { id: 'first', text: 'x', size: 9 }))
    const found = await findNotes.first(db, { prefix: 'first', from: 0, max: 1 })
    expect(found).toEqual({ id: 'first', size: 9 })
    expect(await findNotes.first(db, { prefix: 'none', from: 0, max: 1 })).toBeUndefined()
  })

  it('returns how many rows were written', async () => {
    const { run } = notesOf(database())
    await run(async (tx) => {
      expect(await insertNote.affected(tx, { id: 'many-1', text: '', size: 0 })).toBe(1)
      expect(await insertReturning.affected(tx, { id: 'many-2', size: 0 })).toBe(1)
      expect(await resize.affected(tx, { prefix: 'many-%', size: 3, note: null })).toBe(2)
      expect(await resize.affected(tx, { prefix: 'nothing', size: 3, note: null })).toBe(0)
    })
  })

  it('returns the rows of a write with a returning clause', async () => {
    const { run } = notesOf(database())
    const rows = await run((tx) => insertReturning(tx, { id: 'returned', size: 1 }))
    expect(rows).toEqual([{ id: 'returned', text: 'constant' }])
  })

  it('is built once, and once more for another database', async () => {
    const build = vi.fn((db: typeof handle) => db.selectFrom('notes').select('id').limit(1))
    const handle = notesOf(database()).db
    const query = prepared<object, NotesSchema>()(build)
    await query(handle, {})
    await query(handle, {})
    await notesOf(database()).run((tx) => query(tx, {}))
    expect(build).toHaveBeenCalledTimes(1)
    await using other = await openDatabase(database().options)
    await query(notesOf(other).db, {})
    expect(build).toHaveBeenCalledTimes(2)
  })

  it('refuses a missing value, which would be stored as null', async () => {
    const { run } = notesOf(database())
    const incomplete: { id: string; text: string; size: number } = JSON.parse(
      '{ "id": "missing", "text": "x" }',
    )
    const failed = run((tx) => insertNote(tx, incomplete))
    await expect(failed).rejects.toThrow('parameter size is missing')
  })

  it('works after its table was changed', async () => {
    const { db, run } = notesOf(database())
    const everything = prepared<{ id: string }, NotesSchema>()((on, p) =>
      on.selectFrom('notes').selectAll().where('id', '=', p('id')),
    )
    await run((tx) => tx.insertInto('notes').values(note('changed')).execute())
    const before = await everything.first(db, { id: 'changed' })
    await database().upgrade((tx) => sql`alter table notes add column added text`.execute(tx))
    const after = await run((tx) => everything.first(tx, { id: 'changed' }))
    expect(after).toEqual({ ...before, added: null })
  })

  it('knows its types', () => {
    const { db } = notesOf(database())
    expectTypeOf(findNotes).returns.resolves.toEqualTypeOf<{ id: string; size: number }[]>()
    expectTypeOf(insertReturning).returns.resolves.toEqualTypeOf<{ id: string; text: string }[]>()
    expectTypeOf(findNotes).toBeCallableWith(db, { prefix: '', from: 0, max: 1 })
    // @ts-expect-error: a write needs a transaction
    expectTypeOf(insertNote).toBeCallableWith(db, { id: '', text: '', size: 1 })
    // @ts-expect-error: and so does one that returns rows
    expectTypeOf(insertReturning).toBeCallableWith(db, { id: '', size: 1 })
    // @ts-expect-error: the value has another type
    expectTypeOf(findNotes).toBeCallableWith(db, { prefix: 1, from: 0, max: 1 })
  })
})

describeEachEngine('a prepared patch', (engine) => {
  const database = useDatabase(engine)
  const patchJob = preparedPatch('jobs', ['kind', 'state'])

  const insertJob = async (kind: string, state: 'waiting' | 'running') => {
    const time = '2026-01-01T00:00:00.000Z'
    const job = {
      id: `${kind} ${state}`,
      kind,
      key: state,
      payload: '{}',
      scope: '',
      state,
      priority: 1,
      due_at: time,
      follow_up_at: null,
      attempts: 0,
      max_attempts: 3,
      deadline_milliseconds: 1000,
      claims: 0,
      interruptions: 0,
      owner: 'somebody',
      last_error: null,
      traceparent: null,
      created_at: time,
      updated_at: time,
    }
    await database().run((tx) => tx.insertInto('jobs').values(job).execute())
    return job
  }
  const jobsOf = async (kind: string) =>
    await database()
      .db.selectFrom('jobs')
      .selectAll()
      .where('kind', '=', kind)
      .orderBy('id')
      .execute()

  it('changes the given columns of the rows with all of the keys', async () => {
    const running = await insertJob('keys', 'running')
    const waiting = await insertJob('keys', 'waiting')
    const other = await insertJob('other keys', 'waiting')
    await database().run((tx) =>
      patchJob(tx, { kind: 'keys', state: 'waiting' }, { owner: 'me', attempts: 2 }),
    )
    expect(await jobsOf('keys')).toEqual([running, { ...waiting, owner: 'me', attempts: 2 }])
    expect(await jobsOf('other keys')).toEqual([other])
  })

  it('stores null, and leaves what is undefined as it is', async () => {
    const job = await insertJob('empty', 'waiting')
    const patch = { due_at: null, owner: undefined, last_error: 'no' }
    await database().run((tx) => patchJob(tx, { kind: 'empty', state: 'waiting' }, patch))
    expect(await jobsOf('empty')).toEqual([{ ...job, due_at: null, last_error: 'no' }])
  })

  it('changes a key', async () => {
    const job = await insertJob('moved', 'waiting')
    await database().run((tx) =>
      patchJob(tx, { kind: 'moved', state: 'waiting' }, { kind: 'gone', state: 'dead' }),
    )
    expect(await jobsOf('moved')).toEqual([])
    expect(await jobsOf('gone')).toEqual([{ ...job, kind: 'gone', state: 'dead' }])
  })

  it('is built once for each set of columns', async () => {
    const job = await insertJob('columns', 'waiting')
    const keys = { kind: 'columns', state: 'waiting' }
    const built = await database().run(async (tx) => {
      const build = vi.spyOn(tx, 'updateTable')
      await patchJob(tx, keys, { claims: 1, priority: 3 })
      await patchJob(tx, keys, { claims: 4, priority: 5, key: undefined })
      await patchJob(tx, keys, { claims: 6 })
      return build.mock.calls.length
    })
    expect(built).toBe(2)
    expect(await jobsOf('columns')).toEqual([{ ...job, claims: 6, priority: 5 }])
  })

  it('knows its types', async () => {
    await database().run(async (tx) => {
      // @ts-expect-error: the table has no such column
      expectTypeOf(patchJob).toBeCallableWith(tx, { kind: '', state: '' }, { colour: 'red' })
      // @ts-expect-error: a key is missing
      expectTypeOf(patchJob).toBeCallableWith(tx, { kind: '' }, {})
    })
  })
})
