import type { Job } from '../../../platform/jobs/handler.js'
import type { IndexFile, IndexingProgress } from '../../files/index.js'
import type { IndexFileDeps } from './index-file.js'

/** Milliseconds between two reports: often enough for people, seldom enough for the database. */
const pause = 500

type Said = Pick<IndexingProgress, 'step' | 'percent' | 'pages' | 'passages' | 'passagesTotal'>

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
  const begin = clock.now()
  let last = begin
  let step: Said['step'] | undefined
  let writing: Promise<void> | undefined
  let next: Said | undefined

  async function write(progress: Said): Promise<void> {
    const { botId: bot, fileId: file, generation } = payload
    log.info({ job: id, bot, file, attempt, ...progress }, 'indexing')
    try {
      await indexing.report(payload, { ...progress, attempt, generation })
    } catch (err) {
      log.warn({ err, job: id }, 'the progress of a file could not be stored')
    }
    writing = undefined
    const waiting = next
    next = undefined
    if (waiting !== undefined) start(waiting)
  }

  function start(progress: Said): void {
    last = clock.now()
    step = progress.step
    writing = write(progress)
  }

  return {
    say(progress) {
      const now = clock.now()
      // Whoever watches a file that takes its time shall see each step begin.
      const isNewStep = progress.step !== step && now - begin >= progressPauseMs
      if (!isNewStep && now - last < progressPauseMs) return
      if (writing === undefined) start(progress)
      else if (isNewStep) next = progress
    },
    // Nothing may follow the outcome of the attempt.
    async [Symbol.asyncDispose]() {
      while (writing !== undefined) await writing
    },
  }
}
