import { DatabaseSync } from '@photostructure/sqlite'
import { uncut } from '../workers/thread-end.js'
import { serveThread } from '../workers/thread-task.js'

/** Milliseconds to wait for who reads or writes; another attempt follows later. */
const patienceMs = 200

serveThread<undefined, string, boolean>(async () => async (file) => uncut(() => emptyLog(file)))

/** Moves the log of a SQLite file into it and empties it. Returns whether nobody kept it from doing so. */
function emptyLog(file: string): boolean {
  const database = new DatabaseSync(file, { timeout: patienceMs })
  try {
    database.exec('pragma synchronous = full')
    const result = database.prepare('pragma wal_checkpoint(truncate)').get()
    return (result as { busy: number }).busy === 0
  } finally {
    database.close()
  }
}
