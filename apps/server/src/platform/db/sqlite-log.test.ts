import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Database, openDatabase } from './open.js'

const megabyte = 1024 * 1024

describe('the log of a SQLite file', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botstead-log-'))
  })
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true })
  })
  const sizeOf = async (path: string) => (await stat(path)).size

  /** Writes 12 MB, most of them twice, so that the log is larger than the file. */
  async function write(database: Database): Promise<void> {
    await database.run(async (tx) => {
      await sql`create table if not exists filled (id integer primary key, bytes blob)`.execute(tx)
    })
    for (let id = 0; id < 12; id++) {
      await database.run(async (tx) => {
        await sql`insert or replace into filled values (${id % 4}, zeroblob(1000000))`.execute(tx)
      })
    }
  }
  async function count(database: Database): Promise<number> {
    const query = sql<{ count: number }>`select count(*) as count from filled`
    return Number((await query.execute(database.db)).rows[0]?.count)
  }

  it('is emptied while the server runs, once nothing is written', async () => {
    const file = join(folder, 'running.db')
    await using database = await openDatabase({ file, logIdleMs: 50 })
    await write(database)
    await vi.waitFor(async () => expect(await sizeOf(`${file}-wal`)).toBe(0))
    expect(await count(database)).toBe(4)
    await write(database)
    expect(await count(database)).toBe(4)
  })

  it('that a killed process left is emptied at the next start', async () => {
    const file = join(folder, 'killed.db')
    const copy = join(folder, 'copy.db')
    await using database = await openDatabase({ file })
    await write(database)
    for (const part of ['', '-wal']) await copyFile(`${file}${part}`, `${copy}${part}`)
    expect(await sizeOf(`${copy}-wal`)).toBeGreaterThan(8 * megabyte)
    await using started = await openDatabase({ file: copy })
    expect(await sizeOf(`${copy}-wal`)).toBe(0)
    expect(await count(started)).toBe(4)
  })

  it('is empty after an orderly end', async () => {
    const file = join(folder, 'closed.db')
    const database = await openDatabase({ file })
    await write(database)
    await database.close()
    const size = await sizeOf(`${file}-wal`).catch(() => 0)
    expect(size).toBe(0)
  })
})
