import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CompiledQuery } from 'kysely'
import type { DiskReserve } from '../disk/disk-reserve.js'
import { freeBytes } from '../disk/disk-room.js'
import type { Log } from '../telemetry/log.js'
import { createOutageLog, type OutageLog } from '../telemetry/log.js'
import { pagesOfLog, type SqliteConnection } from './sqlite-connection.js'

/** Lets deletions succeed on a full disk: SQLite must write them to its log before they free space. */
export interface RoomMaker {
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

export function createRoomMaker(
  connection: SqliteConnection,
  file: string,
  reserve: DiskReserve,
  log: Log | undefined,
): RoomMaker {
  const checkpoints = log && createOutageLog(log, lines.checkpoints)
  const refills = log && createOutageLog(log, lines.refills)

  function pragma(query: CompiledQuery): number {
    const [row] = connection.execute<Record<string, number>>(query).rows
    return Number(Object.values(row ?? {})[0])
  }

  /** Moves the log into the file, which empties it, if the file needs little of the room to grow. */
  async function emptyLog(): Promise<void> {
    const [{ size }, free] = await Promise.all([stat(file), freeBytes(dirname(file))])
    const growth = pragma(pageCount) * pragma(pageSize) - size
    if (growth <= free / 2) connection.exec('pragma wal_checkpoint(truncate)')
  }

  /** The work stands without it, so that its callers are not told: once in the log, not each time. */
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
