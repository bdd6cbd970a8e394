import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CompiledQuery } from 'kysely'
import type { DiskReserve } from '../disk-reserve.js'
import { freeBytes } from '../disk-room.js'
import { pagesOfLog, type SqliteConnection } from './sqlite-connection.js'

/** Lets deletions succeed on a full disk: SQLite must write them to its log before they free space. */
export interface RoomMaker {
  /** Runs work while the reserve is released, and refills it afterwards. */
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
      // Otherwise SQLite would checkpoint its log now and then, and the file could grow into the reserve.
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
