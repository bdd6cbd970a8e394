import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { describeEachEngine, type TestDatabase, useDatabase } from '../../../test/engines.js'
import { DatabaseFullError, TransactionMisuseError } from './errors.js'
import { openDatabase } from './open.js'
import type { Tx } from './schema.js'
import { addToTotal, afterCommit, beforeCommit, type Totals } from './transaction.js'

/**
 * Runs a transaction whose first attempt fails in such a way that the engine tries it again: because the
 * disk is full, or because of a conflict with another transaction.
 */
async function runTwice(
  { options, dialect }: TestDatabase,
  work: (tx: Tx, attempt: number) => void,
): Promise<void> {
  await using database = await openDatabase({ ...options, reserveBytes: 1 })
  const failure = dialect.choose<Error>({
    sqlite: new DatabaseFullError('no space'),
    postgres: Object.assign(new Error('conflict'), { code: '40001' }),
  })
  let attempt = 0
  await database.run(
    async (tx) => {
      attempt += 1
      work(tx, attempt)
      if (attempt === 1) beforeCommit(tx, () => Promise.reject(failure))
    },
    { mayUseReserve: true },
  )
  expect(attempt).toBe(2)
}

describeEachEngine('totals that transactions add to', (engine) => {
  const database = useDatabase(engine, [])

  it('are stored once for all that commit together, without what was rolled back', async () => {
    const stored: [string, number][] = []
    const totals: Totals = {
      async store(tx, sums) {
        await sql`select 1`.execute(tx)
        stored.push(...sums)
      },
    }
    const adding = Array.from({ length: 40 }, (_, at) =>
      database().run(async (tx) => {
        addToTotal(tx, totals, at % 2 === 0 ? 'even' : 'odd', 1)
        addToTotal(tx, totals, 'all', 2)
        if (at < 10) throw new Error('no')
      }),
    )
    const results = await Promise.allSettled(adding)
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(30)
    const sums = new Map<string, number>()
    for (const [key, amount] of stored) sums.set(key, (sums.get(key) ?? 0) + amount)
    expect([...sums].sort()).toEqual([
      ['all', 60],
      ['even', 15],
      ['odd', 15],
    ])
    if (engine.name === 'sqlite') expect(stored).toHaveLength(3)
  })

  it('fail what they belong to when they cannot be stored', async () => {
    const totals: Totals = {
      store: async (tx) => {
        await sql`select * from nothing`.execute(tx)
      },
    }
    const failing = database().run(async (tx) => addToTotal(tx, totals, 'all', 1))
    await expect(failing).rejects.toThrow(/nothing/)
    await database().run(async () => {})
  })
})

describeEachEngine('work after the commit', (engine) => {
  const database = useDatabase(engine, [])

  it('is called in order, before the promise of the transaction resolves', async () => {
    const calls: string[] = []
    await database().run(async (tx) => {
      afterCommit(tx, () => calls.push('first'))
      await sql`select 1`.execute(tx)
      afterCommit(tx, () => calls.push('second'))
      expect(calls).toEqual([])
    })
    expect(calls).toEqual(['first', 'second'])
  })

  it('is forgotten when the transaction is rolled back', async () => {
    const calls: string[] = []
    const failing = database().run(async (tx) => {
      afterCommit(tx, () => calls.push('never'))
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    await database().run(async () => {})
    expect(calls).toEqual([])
  })

  it('belongs to the handle that was given', async () => {
    const misuse = database().run(async (tx) =>
      afterCommit(tx.withTables<{ notes: { id: string } }>(), () => {}),
    )
    await expect(misuse).rejects.toThrow(TransactionMisuseError)
  })

  describe('of a transaction that runs twice', () => {
    it('is called for the run that was committed', async () => {
      const calls: number[] = []
      await runTwice(database(), (tx, attempt) => {
        afterCommit(tx, () => calls.push(attempt))
      })
      expect(calls).toEqual([2])
    })
  })
})

describeEachEngine('work at the end of a transaction', (engine) => {
  const database = useDatabase(engine, [])

  it('is done in order, before the commit, with what is added on the way', async () => {
    const calls: string[] = []
    await database().run(async (tx) => {
      afterCommit(tx, () => calls.push('committed'))
      beforeCommit(tx, async () => {
        await sql`select 1`.execute(tx)
        calls.push('first')
        beforeCommit(tx, async () => void calls.push('third'))
      })
      beforeCommit(tx, async () => void calls.push('second'))
      calls.push('body')
    })
    expect(calls).toEqual(['body', 'first', 'second', 'third', 'committed'])
  })

  it('rolls all back when it fails, and is not done when the rest has failed', async () => {
    const calls: string[] = []
    const late = database().run(async (tx) => {
      await sql`create table notes (id text)`.execute(tx)
      afterCommit(tx, () => calls.push('committed'))
      beforeCommit(tx, () => Promise.reject(new Error('late')))
    })
    await expect(late).rejects.toThrow('late')
    await expect(sql`select * from notes`.execute(database().db)).rejects.toThrow('notes')
    const early = database().run(async (tx) => {
      beforeCommit(tx, async () => void calls.push('never'))
      throw new Error('early')
    })
    await expect(early).rejects.toThrow('early')
    expect(calls).toEqual([])
  })

  it('belongs to the handle that was given, and only as long as it is used', async () => {
    const work = async () => {}
    const derived = database().run(async (tx) =>
      beforeCommit(tx.withTables<{ notes: { id: string } }>(), work),
    )
    await expect(derived).rejects.toThrow(TransactionMisuseError)
    const ended = await database().run(async (tx) => [tx] satisfies [Tx])
    expect(() => beforeCommit(ended[0], work)).toThrow(TransactionMisuseError)
  })

  it('is done once for each attempt at a transaction', async () => {
    const calls: number[] = []
    await runTwice(database(), (tx, attempt) => {
      beforeCommit(tx, async () => void calls.push(attempt))
    })
    expect(calls).toEqual([1, 2])
  })
})
