import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLog, type Log } from '../telemetry/log.js'
import { createDiskReserve, createReservedDeletions } from './disk-reserve.js'
import { SqliteConnection } from './sqlite-connection.js'

let folder: string
let file: string
let connection: SqliteConnection
let logged: { level: string; msg: string; err?: { code: string } }[]
let log: Log

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botstead-reserve-'))
  file = join(folder, 'test.db')
  connection = new SqliteConnection(file, 'writer')
  logged = []
  log = await createLog({
    level: 'info',
    destination: { write: (line) => logged.push(JSON.parse(line)) },
  })
})

afterEach(async () => {
  connection.close()
  await rm(folder, { recursive: true })
})

const seen = () => logged.map(({ level, msg, err }) => [level, msg, err?.code])

it('logs once that the space cannot be reserved again, and when it is', async () => {
  const place = join(folder, 'gone')
  const reserve = createDiskReserve(join(place, 'reserve'), 1000)
  const deletions = createReservedDeletions(connection, file, reserve, log)
  let done = 0
  const work = async () => {
    done += 1
  }
  await deletions.refill()
  await deletions.withReserve(work)
  await deletions.withReserve(work)
  const lost = ['warn', 'disk space for deletions could not be reserved', 'ENOENT']
  expect(seen()).toEqual([lost])
  await mkdir(place)
  await deletions.withReserve(work)
  expect(done).toBe(3)
  expect((await stat(join(place, 'reserve'))).size).toBe(1000)
  const regained = ['info', 'disk space for deletions is reserved again', undefined]
  expect(seen()).toEqual([lost, regained])
})

it('logs once that the log of the database cannot be emptied', async () => {
  const reserve = createDiskReserve(join(folder, 'reserve'), 0)
  const deletions = createReservedDeletions(connection, join(folder, 'other.db'), reserve, log)
  for (const _ of [1, 2]) await deletions.withReserve(async () => {})
  const text = 'log of the database could not be emptied after deletions on a full disk'
  expect(seen()).toEqual([['warn', text, 'ENOENT']])
})

it('leaves it to the caller to report work that fails', async () => {
  const reserve = createDiskReserve(join(folder, 'gone', 'reserve'), 1000)
  const deletions = createReservedDeletions(connection, file, reserve, log)
  const failing = deletions.withReserve(async () => {
    throw new Error('The work failed')
  })
  await expect(failing).rejects.toThrow('The work failed')
  expect(seen()).toHaveLength(1)
})
