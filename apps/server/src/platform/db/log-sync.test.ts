import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { memoryFolder } from '../../../test/memory-folder.js'
import type { Database } from './engine.js'
import { DatabaseUnavailableError } from './errors.js'
import { syncedFile } from './log-sync.js'
import { openSqlite } from './sqlite-driver.js'
import { afterCommit } from './transaction.js'

let folder: string
let file: string

beforeEach(async () => {
  folder = await mkdtemp(join((await memoryFolder()) ?? tmpdir(), 'botstead-log-'))
  file = join(folder, 'test.db')
})

afterEach(async () => {
  await rm(folder, { recursive: true })
})

const insert = (database: Database, id: number, notify?: (id: number) => void) =>
  database.run(async (tx) => {
    if (notify !== undefined) afterCommit(tx, () => notify(id))
    await sql`insert into notes values (${id})`.execute(tx)
    return id
  })

const read = async ({ db }: Database) => {
  const { rows } = await sql<{ id: number }>`select id from notes`.execute(db)
  return rows.map(({ id }) => id)
}

/** Syncs that end when a test lets them. */
function heldSyncs() {
  const waiting: { resolve: () => void; reject: (error: Error) => void }[] = []
  const sync = vi.fn(() => {
    return new Promise<void>((resolve, reject) => waiting.push({ resolve, reject }))
  })
  return { sync, next: async () => await vi.waitUntil(() => waiting.shift()) }
}

async function openHeld() {
  const held = heldSyncs()
  const database = await openSqlite({ file, syncLog: () => ({ ...held, close: async () => {} }) })
  const making = database.run(async (tx) => {
    await sql`create table notes (id integer primary key) strict`.execute(tx)
  })
  ;(await held.next()).resolve()
  await making
  return { database, ...held }
}

describe('commits beside the event loop', () => {
  it('share the sync that begins after them', async () => {
    const { database, sync, next } = await openHeld()
    sync.mockClear()
    const ended: number[] = []
    const note = (id: number) => void ended.push(id)
    const runs = [insert(database, 1).then(note)]
    const first = await next()
    runs.push(insert(database, 2).then(note))
    await vi.waitUntil(() => rowsIn(file).length === 2)
    runs.push(insert(database, 3).then(note))
    await vi.waitUntil(() => rowsIn(file).length === 3)
    expect(ended).toEqual([])
    first.resolve()
    const second = await next()
    expect(ended).toEqual([1])
    second.resolve()
    await Promise.all(runs)
    expect(ended).toEqual([1, 2, 3])
    expect(sync).toHaveBeenCalledTimes(2)
    await database.close()
  })

  it('are read, reported and closed only when they are durable', async () => {
    const { database, next } = await openHeld()
    const order: string[] = []
    const note = (name: string) => () => void order.push(name)
    const writing = insert(database, 1, note('notified')).then(note('resolved'))
    await vi.waitUntil(() => rowsIn(file).length === 1)
    const reading = read(database).then(note('read'))
    const settling = database.durable().then(note('durable'))
    const closing = database.close().then(note('closed'))
    await nextTurn()
    expect(order).toEqual([])
    ;(await next()).resolve()
    await Promise.all([writing, reading, settling, closing])
    expect(order.toSorted()).toEqual(['closed', 'durable', 'notified', 'read', 'resolved'])
    expect(order.at(-1)).toBe('closed')
  })

  it('fail with everything after them when the disk fails to store the log', async () => {
    const { database, next } = await openHeld()
    const notify = vi.fn()
    const writing = insert(database, 1, notify)
    const fault = await next()
    const later = insert(database, 2, notify)
    await vi.waitUntil(() => rowsIn(file).length === 2)
    const reading = read(database)
    const failing = [writing, later, reading].map((each) =>
      expect(each).rejects.toThrow(DatabaseUnavailableError),
    )
    fault.reject(new Error('EIO: i/o error, fdatasync'))
    await Promise.all(failing)
    await expect(insert(database, 3)).rejects.toThrow('restart the server')
    await expect(read(database)).rejects.toThrow('restart the server')
    await expect(database.check()).rejects.toThrow('restart the server')
    expect(notify).not.toHaveBeenCalled()
    await database.close()
  })

  it('fail when the log cannot be opened for its first sync, and the database closes', async () => {
    const database = await openSqlite({ file, syncLog: (path) => syncedFile(`${path}/no-folder`) })
    const making = database.run(async (tx) => {
      await sql`create table notes (id integer primary key) strict`.execute(tx)
    })
    await expect(making).rejects.toMatchObject({
      message: expect.stringContaining('restart the server'),
      cause: { code: 'ENOTDIR' },
    })
    await expect(database.close()).resolves.toBeUndefined()
  })
})

/** The rows that are committed, durable or not. */
function rowsIn(path: string): number[] {
  const database = new DatabaseSync(path)
  try {
    return (database.prepare('select id from notes').all() as { id: number }[]).map(({ id }) => id)
  } finally {
    database.close()
  }
}

/** Numbers from a seed, from 0 up to and without a bound. */
function randomOf(seed: number) {
  let state = seed
  return (bound: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

/** The rows that a caller received, and the log at that moment. */
interface Received {
  ids: readonly number[]
  /** The part of the log that was synced to the disk. */
  durable: Buffer
  written: Buffer
}

const runs = 20
const cutsPerRun = 50

describe('a loss of power', () => {
  it.each(Array.from({ length: runs }, (_, seed) => seed))(
    'takes back nothing that a caller received, in run %i',
    async (seed) => {
      const random = randomOf(seed)
      const received: Received[] = []
      let durable: Buffer = Buffer.alloc(0)
      const log = `${file}-wal`
      const database = await openSqlite({
        file,
        syncLog: () => ({
          async sync() {
            // Only what was written before the call is certain to be on the disk after it.
            const written = readFileSync(log)
            for (let turns = random(6); turns > 0; turns--) await nextTurn()
            durable = written
          },
          close: async () => {},
        }),
      })
      await database.run(async (tx) => {
        await sql`create table notes (id integer primary key) strict`.execute(tx)
      })
      const receive = (ids: readonly number[]) =>
        void received.push({ ids, durable, written: readFileSync(log) })
      const work = Array.from({ length: 4 }, async (_, caller) => {
        for (let number = 0; number < 8; number++) {
          for (let turns = random(4); turns > 0; turns--) await nextTurn()
          const id = caller * 100 + number
          if (random(3) === 0) receive(await read(database))
          receive([await insert(database, id, () => receive([id]))])
        }
      })
      await Promise.all(work)
      for (let count = 0; count < cutsPerRun; count++) {
        const { ids, durable, written } = received[random(received.length)] as Received
        // A file of its own, because SQLite may hold the last one until its garbage is collected.
        const cut = join(folder, `cut-${count}.db`)
        await copyFile(file, cut)
        // Of what was written since, the disk has any part.
        const rest = Buffer.from(written.subarray(durable.length))
        for (let lost = random(3); lost > 0; lost--) {
          const start = random(rest.length + 1)
          rest.fill(random(256), start, start + random(rest.length - start + 1))
        }
        writeFileSync(
          `${cut}-wal`,
          Buffer.concat([durable, rest.subarray(0, random(rest.length + 1))]),
        )
        expect(rowsIn(cut)).toEqual(expect.arrayContaining([...ids]))
        for (const end of ['', '-wal', '-shm']) rmSync(cut + end, { force: true })
      }
      await database.close()
    },
  )
})
