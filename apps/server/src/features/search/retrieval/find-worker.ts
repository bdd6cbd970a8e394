import { serveThread } from '../../../platform/workers/thread-task.js'
import { openFind } from './find.js'

/** Runs in a thread of its own, so that a slow search does not block the server. */
serveThread(openFind)
