import type { Job } from '../../platform/jobs/handler.js'
import type { IndexFile, Progress } from '../files/index.js'
import type { IndexFileDeps } from './index-file.js'

/** Milliseconds between two reports: often enough for people, seldom enough for the database. */
const pause = 500

type Said = Pick<Progress, 'step' | 'percent' | 'pages' | 'passages' | 'passagesTotal'>

/** Tells how far one attempt is: in the file, for its author, and in the log, for the operator. */
export interface ProgressReport extends AsyncDisposable {
  /** Never throws and never waits; what comes too soon after the last is left out. */
  say(progress: Said): void
}

/** A small file is done before its first report is due, and costs none. */
export function createProgressReport(
  { indexing, clock, log, progressPauseMs = pause }: IndexFileDeps,
  { id, payload, attempt }: Job<IndexFile>,
): ProgressReport {
  let last = clock.now()
  let writing: Promise<void> | undefined

  async function write(progress: Said): Promise<void> {
    const { botId: bot, fileId: file, generation } = payload
    log.info({ job: id, bot, file, attempt, ...progress }, 'indexing')
    try {
      await indexing.report(payload, { ...progress, attempt, generation })
    } catch (err) {
      log.warn({ err, job: id }, 'the progress of a file could not be stored')
    }
    writing = undefined
  }

  return {
    say(progress) {
      if (writing !== undefined || clock.now() - last < progressPauseMs) return
      last = clock.now()
      writing = write(progress)
    },
    // Nothing may follow the outcome of the attempt.
    async [Symbol.asyncDispose]() {
      await writing
    },
  }
}
