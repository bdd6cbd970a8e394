import { serveThread } from '../../../platform/workers/thread-task.js'
import { openFind } from './find.js'

/** Runs in a thread of its own, so that a search that takes long keeps nobody waiting. */
serveThread(openFind)
