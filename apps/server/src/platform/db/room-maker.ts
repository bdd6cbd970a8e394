import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CompiledQuery } from 'kysely'
import type { DiskReserve } from '../disk-reserve.js'
import { freeBytes } from '../disk-room.js'
import { pagesOfLog, type SqliteConnection } from './sqlite-connection.js'

/** Makes deletions possible where the disk of the database is full: their log takes room first. */
export interface RoomMaker {
  /** Does work while the reserve is given to the disk, and takes it back afterwards. */
  withReserve(work: () => Promise<void>): Promise<void>
}

const pageCount = CompiledQuery.raw('pragma page_count')
const pageSize = CompiledQuery.raw('pragma page_size')

export function createRoomMaker(
  connection: SqliteConnection,
  file: string,
  reserve: DiskReserve,
): RoomMaker {
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

  return {
    async withReserve(work) {
      await reserve.release()
      // By itself SQLite would move the log now and then, and let the file grow into the reserve.
      connection.exec('pragma wal_autocheckpoint = 0')
      try {
        await work()
        await emptyLog().catch(() => {})
      } finally {
        connection.exec(`pragma wal_autocheckpoint = ${pagesOfLog}`)
        await reserve.refill()
      }
    },
  }
}
