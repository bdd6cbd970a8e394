// The add-on of SQLite must be loaded before the thread may be ended, see thread-end.ts.
import '../../../platform/db/sqlite-driver.js'
import { serveThread } from '../../../platform/workers/thread-task.js'
import { openFind } from './find.js'

/** Runs in a thread of its own, so that a slow search does not block the server. */
serveThread(openFind)
