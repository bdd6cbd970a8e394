import { randomBytes } from 'node:crypto'
import { open, stat, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CompiledQuery } from 'kysely'
import { hasErrorCode } from '../disk/files.js'
import { freeBytes } from '../disk/free-space.js'
import { createOutageLog, type Log, type OutageLog } from '../telemetry/log.js'
import { pagesOfLog, type SqliteConnection } from './sqlite-connection.js'

/** Bytes that are written at once. */
const pieceSize = 1024 * 1024

/** Disk space that a file reserves, so that work that frees space has some to start with. */
export interface DiskReserve {
  /** Frees all of it. */
  release(): Promise<void>
  /** Reserves it again, as far as the disk has space. */
  refill(): Promise<void>
}

/**
 * @param file occupies the space; created by the first `refill`
 * @param bytes its size; 0 for none
 */
export function createDiskReserve(file: string, bytes: number): DiskReserve {
  let turn = Promise.resolve()
  /** One after the other: a refill must not take back what a later release gave. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = turn.then(work)
    turn = done.catch(() => {})
    return done
  }

  async function empty(): Promise<void> {
    try {
      await truncate(file, 0)
    } catch (error) {
      if (!hasErrorCode(error, 'ENOENT')) throw error
    }
  }

  async function fill(): Promise<void> {
    if (bytes === 0) return
    try {
      await using handle = await open(file, 'a', 0o600)
      let { size } = await handle.stat()
      // A compressing file system would reserve no space for repeated content.
      const piece = size < bytes ? randomBytes(Math.min(pieceSize, bytes)) : Buffer.of()
      while (size < bytes) {
        const { bytesWritten } = await handle.write(piece, 0, Math.min(piece.length, bytes - size))
        size += bytesWritten
      }
    } catch (error) {
      // A smaller reserve is better than none; the next refill after a deletion extends it.
      if (!hasErrorCode(error, 'ENOSPC', 'EDQUOT')) throw error
    }
  }

  return { release: () => inTurn(empty), refill: () => inTurn(fill) }
}

/** Lets deletions succeed on a full disk: SQLite must write them to its log before they free space. */
export interface ReservedDeletions {
  /** Runs work while the reserve is released, and refills it afterwards. */
  withReserve(work: () => Promise<void>): Promise<void>
  /** Reserves the space as far as the disk has it; a failure is logged. */
  refill(): Promise<void>
}

const pageCount = CompiledQuery.raw('pragma page_count')
const pageSize = CompiledQuery.raw('pragma page_size')

const lines = {
  checkpoints: {
    begins: 'log of the database could not be emptied after deletions on a full disk',
    ends: 'log of the database was emptied again after deletions on a full disk',
  },
  refills: {
    begins: 'disk space for deletions could not be reserved',
    ends: 'disk space for deletions is reserved again',
  },
}

/**
 * Makes the use of the disk reserve for one database.
 * @param file path of the database file, whose log is emptied after deletions on a full disk
 */
export function createReservedDeletions(
  connection: SqliteConnection,
  file: string,
  reserve: DiskReserve,
  log: Log | undefined,
): ReservedDeletions {
  const checkpoints = log && createOutageLog(log, lines.checkpoints)
  const refills = log && createOutageLog(log, lines.refills)

  function pragma(query: CompiledQuery): number {
    const [row] = connection.execute<Record<string, number>>(query).rows
    return Number(Object.values(row ?? {})[0])
  }

  /** Moves the log into the file, which empties it, if the file needs little of the free space to grow. */
  async function emptyLog(): Promise<void> {
    const [{ size }, free] = await Promise.all([stat(file), freeBytes(dirname(file))])
    const growth = pragma(pageCount) * pragma(pageSize) - size
    if (growth <= free / 2) connection.exec('pragma wal_checkpoint(truncate)')
  }

  /** The work is committed without it, so its callers see no error; the fault is logged once. */
  async function attempt(
    step: () => Promise<void>,
    outages: OutageLog | undefined,
    who: string,
  ): Promise<void> {
    try {
      await step()
      outages?.worked(who)
    } catch (error) {
      outages?.failed(who, error)
    }
  }

  const refill = () => attempt(reserve.refill, refills, 'reserve')

  return {
    async withReserve(work) {
      await reserve.release()
      // Otherwise SQLite would checkpoint its log now and then, and the file could grow into the reserve.
      connection.exec('pragma wal_autocheckpoint = 0')
      try {
        await work()
        await attempt(emptyLog, checkpoints, 'checkpoint')
      } finally {
        connection.exec(`pragma wal_autocheckpoint = ${pagesOfLog}`)
        await refill()
      }
    },
    refill,
  }
}
