import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { CompiledQuery, type Transaction } from 'kysely'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ReservedDeletions } from './disk-reserve.js'
import {
  CommitFailedError,
  DatabaseBusyError,
  DatabaseFullError,
  TransactionMisuseError,
} from './errors.js'
import { createHandles } from './executor.js'
import { GroupCommit, type GroupCommitLimits } from './group-commit.js'
import { SqliteConnection } from './sqlite-connection.js'
import { sqliteWriter } from './sqlite-driver.js'

const roomy: GroupCommitLimits = { maxBatch: 100, maxBatchMilliseconds: 60_000, busyTimeout: 5000 }

let folder: string
let connection: SqliteConnection
let reader: SqliteConnection

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botstead-commit-'))
  connection = new SqliteConnection(join(folder, 'test.db'), 'writer')
  connection.exec('create table owners (id text primary key) strict')
  connection.exec(
    'create table rows (id text primary key, owner text references owners (id) deferrable) strict',
  )
  reader = new SqliteConnection(join(folder, 'test.db'), 'reader')
})

afterEach(async () => {
  vi.restoreAllMocks()
  reader.close()
  connection.close()
  await rm(folder, { recursive: true })
})

const commitsWithin = (limits: GroupCommitLimits, reserve?: ReservedDeletions) =>
  new GroupCommit({ connection, handles: createHandles<unknown>(sqliteWriter), limits, reserve })

const insert = (transaction: Transaction<unknown>, id: string, owner: string | null = null) =>
  transaction.executeQuery(CompiledQuery.raw('insert into rows values (?, ?)', [id, owner]))

const stored = (from = reader) =>
  from
    .execute<{ id: string }>(CompiledQuery.raw('select id from rows order by id'))
    .rows.map(({ id }) => id)

/** Counts what ends a physical transaction. */
function countCommits() {
  const exec = vi.spyOn(connection, 'exec')
  return () => exec.mock.calls.filter(([sql]) => sql === 'commit').length
}

it('commits all transactions that wait together once, in the order they came', async () => {
  const commits = commitsWithin(roomy)
  const counted = countCommits()
  const order: string[] = []
  const run = (id: string) =>
    commits.run(async (transaction) => {
      order.push(id)
      await insert(transaction, id)
      await insert(transaction, `${id}-again`)
      order.push(`${id} done`)
    })
  await Promise.all([run('a'), run('b'), run('c')])
  expect(order).toEqual(['a', 'a done', 'b', 'b done', 'c', 'c done'])
  expect(counted()).toBe(1)
  expect(stored()).toHaveLength(6)
})

it('lets transactions that are requested while a batch runs join it', async () => {
  const commits = commitsWithin(roomy)
  const counted = countCommits()
  let joined: Promise<unknown> | undefined
  await commits.run(async (transaction) => {
    joined = commits.run((late) => insert(late, 'late'))
    await insert(transaction, 'early')
  })
  await joined
  expect(counted()).toBe(1)
  expect(stored()).toEqual(['early', 'late'])
})

it('settles no promise before the commit', async () => {
  const commits = commitsWithin(roomy)
  const events: string[] = []
  const exec = connection.exec.bind(connection)
  vi.spyOn(connection, 'exec').mockImplementation((sql) => {
    exec(sql)
    events.push(sql)
  })
  const note = (name: string) => () => {
    events.push(`${name} ${stored().join()}`)
  }
  await Promise.all([
    commits.run((transaction) => insert(transaction, 'a')).then(note('resolved')),
    commits.run(() => Promise.reject(new Error('refused'))).catch(note('rejected')),
    commits.run((transaction) => insert(transaction, 'b')).then(note('resolved')),
  ])
  expect(events).toEqual([
    'begin immediate',
    'commit',
    'resolved a,b',
    'rejected a,b',
    'resolved a,b',
  ])
})

it('rolls back a failed transaction alone', async () => {
  const commits = commitsWithin(roomy)
  const counted = countCommits()
  const outcomes = await Promise.allSettled([
    commits.run((transaction) => insert(transaction, 'a')),
    commits.run(async (transaction) => {
      await insert(transaction, 'b')
      await insert(transaction, 'a')
    }),
    commits.run((transaction) => insert(transaction, 'c')),
  ])
  expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(counted()).toBe(1)
  expect(stored()).toEqual(['a', 'c'])
})

it('fails every transaction whose commit failed, and continues', async () => {
  const commits = commitsWithin(roomy)
  const outcomes = await Promise.allSettled([
    commits.run((transaction) => insert(transaction, 'innocent')),
    commits.run(() => Promise.reject(new Error('refused'))),
    commits.run(async (transaction) => {
      // Checked by the commit: one of the few ways to make SQLite refuse it.
      await transaction.executeQuery(CompiledQuery.raw('pragma defer_foreign_keys = on'))
      await insert(transaction, 'orphan', 'nobody')
    }),
  ])
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(CommitFailedError) })
  }
  expect(stored()).toEqual([])
  await commits.run((transaction) => insert(transaction, 'later'))
  expect(stored()).toEqual(['later'])
})

it('fails the batch that SQLite rolls back on its own, and continues', async () => {
  const commits = commitsWithin({ ...roomy, maxBatch: 2 })
  const again = CompiledQuery.raw("insert or rollback into rows values ('a', null)")
  const outcomes = await Promise.allSettled([
    commits.run((transaction) => insert(transaction, 'a')),
    commits.run((transaction) => transaction.executeQuery(again)),
    commits.run((transaction) => insert(transaction, 'c')),
  ])
  expect(outcomes).toMatchObject([
    { status: 'rejected', reason: { cause: { message: 'UNIQUE constraint failed: rows.id' } } },
    { status: 'rejected', reason: { cause: { message: 'UNIQUE constraint failed: rows.id' } } },
    { status: 'fulfilled' },
  ])
  expect(stored()).toEqual(['c'])
})

it('fails only what took part when the commit of a batch fails that kept back a deletion', async () => {
  const reserve = { withReserve: (work: () => Promise<void>) => work(), refill: async () => {} }
  // The batch ends with its first member, so that the others still wait when it fails.
  const commits = commitsWithin({ ...roomy, maxBatchMilliseconds: 0 }, reserve)
  const exec = connection.exec.bind(connection)
  let attempts = 0
  vi.spyOn(connection, 'exec').mockImplementation((statement) => {
    if (statement === 'commit' && attempts++ === 0) throw new Error('disk I/O error')
    exec(statement)
  })
  let isFull = true
  const deletion = commits.run(
    async (transaction) => {
      if (isFull) {
        isFull = false
        throw new DatabaseFullError('The disk is full')
      }
      await insert(transaction, 'deletion')
    },
    { mayUseReserve: true },
  )
  const next = commits.run((transaction) => insert(transaction, 'next'))
  await Promise.all([deletion, next])
  expect(attempts).toBe(3)
  expect(stored()).toEqual(['deletion', 'next'])
})

it('survives a full disk', async () => {
  const commits = commitsWithin(roomy)
  await commits.run((transaction) => insert(transaction, 'before'))
  connection.exec('pragma max_page_count = 8')
  const outcomes = await Promise.allSettled(
    ['a', 'b', 'c'].map((id) =>
      commits.run((transaction) => insert(transaction, id + 'x'.repeat(20_000))),
    ),
  )
  const failed = outcomes.filter((outcome) => outcome.status === 'rejected')
  expect(failed.length).toBeGreaterThan(0)
  expect(stored()).toHaveLength(1 + outcomes.length - failed.length)
  connection.exec('pragma max_page_count = 1000000')
  await commits.run((transaction) => insert(transaction, 'after'))
  expect(stored()).toContain('after')
})

it.each([
  // Far away: a short one can be over before the loop has turned.
  ['a timer', () => sleep(60_000, undefined, { ref: false })],
  ['a turn of the event loop', () => new Promise((resolve) => setImmediate(resolve))],
  ['what never comes', () => new Promise(() => {})],
])('ends a transaction that waits for %s, and the next one runs', async (_what, wait) => {
  const commits = commitsWithin(roomy)
  const stuck = commits.run(async (transaction) => {
    await insert(transaction, 'stuck')
    await wait()
    await insert(transaction, 'stuck too late')
  })
  const next = commits.run((transaction) => insert(transaction, 'next'))
  await expect(stuck).rejects.toThrow(TransactionMisuseError)
  await next
  await sleep(5)
  expect(stored()).toEqual(['next'])
})

it('ends a transaction that waits for another one', async () => {
  const commits = commitsWithin(roomy)
  const outer = commits.run(async (transaction) => {
    await insert(transaction, 'outer')
    await commits.run((nested) => insert(nested, 'nested'))
  })
  await expect(outer).rejects.toThrow(TransactionMisuseError)
  await commits.close()
  expect(stored()).not.toContain('outer')
})

it('bounds a batch by its number of transactions', async () => {
  const commits = commitsWithin({ ...roomy, maxBatch: 2 })
  const counted = countCommits()
  const ids = ['a', 'b', 'c', 'd', 'e']
  await Promise.all(ids.map((id) => commits.run((transaction) => insert(transaction, id))))
  expect(counted()).toBe(3)
  expect(stored()).toEqual(ids)
})

it('bounds a batch by its duration', async () => {
  const commits = commitsWithin({ ...roomy, maxBatchMilliseconds: 0 })
  const counted = countCommits()
  const ids = ['a', 'b', 'c']
  await Promise.all(ids.map((id) => commits.run((transaction) => insert(transaction, id))))
  expect(counted()).toBe(3)
  expect(stored()).toEqual(ids)
})

it('waits for another process that writes, without blocking the thread', async () => {
  const other = new SqliteConnection(join(folder, 'test.db'), 'writer')
  const commits = commitsWithin(roomy)
  try {
    other.exec('begin immediate')
    other.exec("insert into rows values ('other', null)")
    const waiting = commits.run((transaction) => insert(transaction, 'mine'))
    // A blocked thread would never come to this commit, and the wait would fail.
    await sleep(20)
    other.exec('commit')
    await waiting
  } finally {
    other.close()
  }
  expect(stored()).toEqual(['mine', 'other'])
})

it('gives up when another process does not let go', async () => {
  const other = new SqliteConnection(join(folder, 'test.db'), 'writer')
  const commits = commitsWithin({ ...roomy, busyTimeout: 10 })
  try {
    other.exec('begin immediate')
    const outcomes = await Promise.allSettled([
      commits.run((transaction) => insert(transaction, 'a')),
      commits.run((transaction) => insert(transaction, 'b')),
    ])
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(DatabaseBusyError) })
    }
    other.exec('rollback')
  } finally {
    other.close()
  }
  await commits.run((transaction) => insert(transaction, 'c'))
  expect(stored()).toEqual(['c'])
})

it('leaves what running the transactions one by one would leave', async () => {
  const write = fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd'), remove: fc.boolean() })
  const transaction = fc.record({
    writes: fc.array(write, { maxLength: 4 }),
    refused: fc.boolean(),
    // Whether the event loop turns before the next one is asked for.
    pause: fc.boolean(),
  })
  const limits = fc.record({ maxBatch: fc.integer({ min: 1, max: 5 }) })
  await fc.assert(
    fc.asyncProperty(
      fc.array(transaction, { maxLength: 12 }),
      limits,
      async (all, { maxBatch }) => {
        connection.exec('delete from rows')
        const commits = commitsWithin({ ...roomy, maxBatch })
        let model = new Set<string>()
        const expected: string[] = []
        const actual: Promise<string>[] = []
        for (const { writes, refused, pause } of all) {
          const after = new Set(model)
          let failed = refused
          for (const { id, remove } of writes) {
            if (!remove && after.has(id)) failed = true
            if (remove) after.delete(id)
            else after.add(id)
          }
          if (!failed) model = after
          expected.push(failed ? 'failed' : 'stored')
          const outcome = commits.run(async (on) => {
            for (const { id, remove } of writes) {
              if (remove) {
                await on.executeQuery(CompiledQuery.raw('delete from rows where id = ?', [id]))
              } else await insert(on, id)
            }
            if (refused) throw new Error('refused')
          })
          actual.push(outcome.then(() => 'stored').catch(() => 'failed'))
          if (pause) await new Promise((resolve) => setImmediate(resolve))
        }
        expect(await Promise.all(actual)).toEqual(expected)
        expect(stored()).toEqual([...model].toSorted())
      },
    ),
    { numRuns: 100 },
  )
})
