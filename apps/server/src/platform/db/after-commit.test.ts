import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { afterCommit, followCommits } from './after-commit.js'
import { TransactionMisuseError } from './errors.js'
import type { Run } from './schema.js'

describeEachEngine('what is left for after the commit', (engine) => {
  const database = useDatabase(engine, [])

  it('is called in order, before the transaction is answered', async () => {
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
      const twice: Run = async (work) => {
        await database().run(work)
        return database().run(work)
      }
      let attempt = 0
      await followCommits(twice)(async (tx) => {
        const number = ++attempt
        afterCommit(tx, () => calls.push(number))
      })
      expect(calls).toEqual([2])
    })
  })
})
