import { executionAsyncResource } from 'node:async_hooks'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { note, notesMigration, notesOf } from '../../../test/notes.js'
import { DatabaseUnavailableError, TransactionMisuseError } from './errors.js'
import { openDatabase } from './open.js'

describeEachEngine('a transaction', (engine) => {
  const database = useDatabase(engine, [notesMigration])

  const ids = async (prefix: string) => {
    const { db } = notesOf(database())
    const query = db.selectFrom('notes').select('id').where('id', 'like', `${prefix}%`)
    return (await query.orderBy('id').execute()).map((row) => row.id)
  }

  it('stores what it wrote and resolves with the result of its body', async () => {
    const { run } = notesOf(database())
    const rows = await run(async (tx) => {
      await tx.insertInto('notes').values(note('stored-1')).execute()
      await tx.insertInto('notes').values(note('stored-2')).execute()
      return tx.selectFrom('notes').select('id').where('id', 'like', 'stored-%').execute()
    })
    expect(rows).toHaveLength(2)
    expect(await ids('stored-')).toEqual(['stored-1', 'stored-2'])
  })

  it('stores nothing if its body throws, and rejects with that very error', async () => {
    const { run } = notesOf(database())
    const refusal = new Error('no')
    const failed = run(async (tx) => {
      await tx.insertInto('notes').values(note('thrown')).execute()
      throw refusal
    })
    await expect(failed).rejects.toBe(refusal)
    expect(await ids('thrown')).toEqual([])
  })

  it('turns an error thrown before the first await into a rejection', async () => {
    const failed = database().run(() => {
      throw new Error('at once')
    })
    await expect(failed).rejects.toThrow('at once')
  })

  it('is lost with its first failed query, even if the body swallows the error', async () => {
    const { run } = notesOf(database())
    await run((tx) => tx.insertInto('notes').values(note('taken')).execute())
    const swallowed = run(async (tx) => {
      await tx.insertInto('notes').values(note('doomed-1')).execute()
      const again = tx.insertInto('notes').values(note('taken')).execute()
      await again.catch(() => {})
    })
    await expect(swallowed).rejects.toSatisfy(database().dialect.isUniqueViolation)
    const continued = run(async (tx) => {
      const again = tx.insertInto('notes').values(note('taken')).execute()
      await again.catch(() => {})
      await tx.insertInto('notes').values(note('doomed-2')).execute()
    })
    await expect(continued).rejects.toThrow(TransactionMisuseError)
    expect(await ids('doomed')).toEqual([])
  })

  it('shows its writes to no other reader before it ends', async () => {
    await using other = await openDatabase(database().options)
    const seen = () =>
      notesOf(other).db.selectFrom('notes').select('id').where('id', '=', 'hidden').execute()
    const seenInside = await notesOf(database()).run(async (tx) => {
      await tx.insertInto('notes').values(note('hidden')).execute()
      return seen()
    })
    expect(seenInside).toEqual([])
    expect(await seen()).toEqual([{ id: 'hidden' }])
  })

  it('counts without gap or double when many run at once', async () => {
    const { run } = notesOf(database())
    await run((tx) => tx.insertInto('notebooks').values({ id: 'counted', last_seq: 0 }).execute())
    const next = () =>
      run((tx) =>
        tx
          .updateTable('notebooks')
          .set((eb) => ({ last_seq: eb('last_seq', '+', 1) }))
          .where('id', '=', 'counted')
          .returning('last_seq')
          .executeTakeFirstOrThrow(),
      )
    const rows = await Promise.all(Array.from({ length: 100 }, next))
    const numbers = rows.map((row) => row.last_seq).toSorted((a, b) => a - b)
    expect(numbers).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
  })

  it('refuses its handle after it ended', async () => {
    const { run } = notesOf(database())
    const late = await run(async (tx) => tx.insertInto('notes').values(note('late')))
    await expect(late.execute()).rejects.toThrow(TransactionMisuseError)
    expect(await ids('late')).toEqual([])
  })

  it('cannot open another one', async () => {
    const { run } = notesOf(database())
    let inner: Promise<void> | undefined
    const outer = run(async (tx) => {
      await tx.insertInto('notes').values(note('nested-outer')).execute()
      inner = run(async (nested) => {
        await nested.insertInto('notes').values(note('nested-inner')).execute()
      })
      await inner
    })
    await expect(outer).rejects.toThrow(TransactionMisuseError)
    await expect(inner).rejects.toThrow(TransactionMisuseError)
    expect(await ids('nested')).toEqual([])
  })

  it('cannot read through the outer handle', async () => {
    const { db, run } = notesOf(database())
    const failed = run(async (tx) => {
      await tx.insertInto('notes').values(note('stale')).execute()
      await db.selectFrom('notes').select('id').execute()
    })
    await expect(failed).rejects.toThrow(TransactionMisuseError)
    expect(await ids('stale')).toEqual([])
  })

  it('leaves code that it started and that outlives it free', async () => {
    const { run } = notesOf(database())
    let outliving: Promise<unknown> | undefined
    let release = () => {}
    const ended = new Promise<void>((resolve) => {
      release = resolve
    })
    await run(async (tx) => {
      await tx.insertInto('notes').values(note('free')).execute()
      outliving = ended.then(() => ids('free'))
    })
    release()
    expect(await outliving).toEqual(['free'])
  })

  it('is opened by run only', async () => {
    const { db } = notesOf(database())
    const opened = db.transaction().execute(async () => 'opened')
    await expect(opened).rejects.toThrow(TransactionMisuseError)
    await expect(db.destroy()).rejects.toThrow(TransactionMisuseError)
  })
})

describeEachEngine('outside of a transaction', (engine) => {
  const database = useDatabase(engine, [notesMigration])

  it.each([
    ['built', () => notesOf(database()).db.insertInto('notes').values(note('outside')).execute()],
    ['raw', () => sql`delete from notes`.execute(database().db)],
  ])('a %s write is refused', async (_kind, write) => {
    const { db, run } = notesOf(database())
    await run((tx) => tx.deleteFrom('notes').execute())
    await run((tx) => tx.insertInto('notes').values(note('kept')).execute())
    await expect(write()).rejects.toThrow(/read-?only/)
    expect(await db.selectFrom('notes').select('id').execute()).toEqual([{ id: 'kept' }])
  })

  it('rows cannot be streamed', async () => {
    const { db } = notesOf(database())
    const rows = db.selectFrom('notes').selectAll().stream()
    await expect(rows.next()).rejects.toThrow(TransactionMisuseError)
  })
})

describeEachEngine('a database', (engine) => {
  const database = useDatabase(engine, [notesMigration])

  it('reports that it works', async () => {
    await expect(database().check()).resolves.toBeUndefined()
  })

  it('finishes what runs when it closes and refuses what comes later', async () => {
    const closing = await openDatabase(database().options)
    const { db, run } = notesOf(closing)
    const running = run((tx) => tx.insertInto('notes').values(note('running')).execute())
    const closed = closing.close()
    const late = run((tx) => tx.insertInto('notes').values(note('late')).execute())
    await expect(late).rejects.toThrow(DatabaseUnavailableError)
    await running
    await closed
    await closing.close()
    await expect(closing.check()).rejects.toThrow(DatabaseUnavailableError)
    await expect(db.selectFrom('notes').selectAll().execute()).rejects.toThrow(
      DatabaseUnavailableError,
    )
    const rows = await notesOf(database()).db.selectFrom('notes').select('id').execute()
    expect(rows).toEqual([{ id: 'running' }])
  })

  it('leaves no trace on later promises once its database is closed', async () => {
    const traces = async () => {
      await Promise.resolve()
      return Object.getOwnPropertySymbols(executionAsyncResource()).length
    }
    const before = await traces()
    for (let round = 0; round < 3; round += 1) {
      await using other = await openDatabase(database().options)
      await other.run((tx) => sql`select 1`.execute(tx))
    }
    expect(await traces()).toBe(before)
  })

  it('returns whole numbers as numbers and bytes as bytes', async () => {
    const { db, run } = notesOf(database())
    const row = {
      ...note('kinds', 'ünïcode \u0000', Number.MAX_SAFE_INTEGER),
      ratio: 0.1,
      data: new Uint8Array([0, 127, 255]),
    }
    // PostgreSQL stores no NUL in text; what is left is the same on both.
    row.text = row.text.replace('\u0000', '')
    await run((tx) => tx.insertInto('notes').values(row).execute())
    const stored = await db
      .selectFrom('notes')
      .selectAll()
      .where('id', '=', 'kinds')
      .executeTakeFirstOrThrow()
    expect({ ...stored, data: new Uint8Array(stored.data ?? []) }).toEqual(row)
    const { count, sum } = await db
      .selectFrom('notes')
      .select(({ fn }) => [fn.countAll<number>().as('count'), fn.sum<number>('size').as('sum')])
      .where('id', '=', 'kinds')
      .executeTakeFirstOrThrow()
    expect({ count, sum }).toEqual({ count: 1, sum: Number.MAX_SAFE_INTEGER })
  })

  it('reports how many rows a write changed', async () => {
    const { run } = notesOf(database())
    await run((tx) =>
      tx
        .insertInto('notes')
        .values([note('change-1'), note('change-2')])
        .execute(),
    )
    const changed = await run((tx) =>
      tx
        .updateTable('notes')
        .set({ size: 1 })
        .where('id', 'like', 'change-%')
        .executeTakeFirstOrThrow(),
    )
    expect(changed.numUpdatedRows).toBe(2n)
  })
})
