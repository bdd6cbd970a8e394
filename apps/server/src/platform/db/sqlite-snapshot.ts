import { createReadStream } from 'node:fs'
import { mkdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { backup, DatabaseSync } from '@photostructure/sqlite'
import { freeBytes } from '../disk/free-space.js'
import { createThreadPool } from '../workers/thread-pool.js'
import { DatabaseFullError } from './errors.js'
import type { DatabaseSnapshot } from './snapshot.js'
import { openSqliteReads } from './sqlite-driver.js'
import type { SqliteFacts } from './sqlite-facts-worker.js'

/** Name of the one part of a snapshot. */
export const sqlitePart = 'botstead_db'
/** Bytes of the disk that a copy leaves free. */
const reservedBytes = 64 * 1024 * 1024
const day = 24 * 60 * 60 * 1000

/**
 * Takes a snapshot of a SQLite file, also while others write to it: a copy of its pages in a folder, made in the
 * thread pool within one read transaction.
 * @param folder for the copy; emptied at the beginning and removed at the end
 */
export async function takeSqliteSnapshot(file: string, folder: string): Promise<DatabaseSnapshot> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const copy = join(folder, 'copy.db')
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await requireRoom(file, folder)
    await copyPages(file, copy)
    const facts = await readSqliteFacts(copy)
    const reads = await openSqliteReads(copy)
    return {
      engine: 'sqlite',
      db: reads.db,
      schema: facts.schema,
      async *parts() {
        yield { name: sqlitePart, columns: [], content: createReadStream(copy) }
      },
      tables: async () => facts.tables,
      async close() {
        await reads.close()
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function requireRoom(file: string, folder: string): Promise<void> {
  const log = await stat(`${file}-wal`).catch(() => ({ size: 0 }))
  const needed = (await stat(file)).size + log.size + reservedBytes
  const free = await freeBytes(folder)
  if (free >= needed) return
  throw new DatabaseFullError(
    `A backup needs ${megabytes(needed)} for a copy of the database in ${dirname(folder)}, and ${megabytes(free)} are free: make room there.`,
  )
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}

async function copyPages(file: string, copy: string): Promise<void> {
  const source = new DatabaseSync(file, { timeout: 5000, readOnly: true })
  try {
    // All pages in one step: otherwise a write of another connection makes it begin anew.
    await backup(source, copy, { rate: -1 })
  } finally {
    source.close()
  }
}

/**
 * Checks a SQLite file that nobody uses, and counts the rows of its tables, in a thread of its own.
 * @throws Error when the file is damaged
 */
export async function readSqliteFacts(file: string): Promise<SqliteFacts> {
  await using pool = createThreadPool<string, SqliteFacts>({
    entry: new URL('./sqlite-facts-worker.js', import.meta.url),
    setup: undefined,
    threads: 1,
    maxQueue: 0,
    timeLimitMs: day,
    memoryLimitMb: 128,
    onError: () => {},
  })
  return await pool.run(file)
}
