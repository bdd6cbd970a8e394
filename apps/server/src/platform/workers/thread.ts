import { Worker } from 'node:worker_threads'
import type { ThreadAnswer, ThreadReady } from './thread-task.js'
import type { ThreadEntry } from './worker-entry.js'

/** A thread ended while it had work or before it could have any. */
export class ThreadEndError extends Error {
  override readonly name = 'ThreadEndError'
}

/** A thread that does one task at a time. */
export interface Thread<Input, Output> {
  /**
   * @throws ThreadEndError if the thread ends first
   * @throws what the task threw, as a plain `Error`
   */
  run(input: Input): Promise<Output>
  /** Whether the thread has started and does at once what it is given. */
  isReady(): boolean
  /** Calls back once the thread has started; never if it ends before. */
  onceReady(callback: () => void): void
  /** Ends the thread. A call into the database that it is in the middle of is not cut short. */
  end(): void
  /** Resolves with the reason once the thread has ended. */
  readonly ended: Promise<ThreadEndError>
}

/** @param memoryLimitMb megabytes of JavaScript heap at which the thread ends */
export function startThread<Input, Output>(
  entry: ThreadEntry,
  setup: unknown,
  memoryLimitMb: number,
): Thread<Input, Output> {
  const worker = new Worker(entry.code, {
    eval: entry.isScript,
    execArgv: entry.execArgv,
    workerData: setup,
    // It opens what it is told to, and has no business with the secrets of the server.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb },
  })
  let failure: Error | undefined
  // Called and not raced against `ended`: a promise that lives as long as the thread would keep a
  // reaction, and with it the answer, for every task that ever ran.
  let settle: ((answer: ThreadAnswer<Output> | ThreadEndError) => void) | undefined
  let gone: ThreadEndError | undefined
  let isReady = false
  let reportReady: (() => void) | undefined
  worker.on('error', (error: Error) => {
    failure = error
  })
  worker.on('message', (message: ThreadReady | ThreadAnswer<Output>) => {
    if (!('ready' in message)) {
      settle?.(message)
      return
    }
    isReady = true
    reportReady?.()
    reportReady = undefined
  })
  const ended = new Promise<ThreadEndError>((resolve) => {
    worker.once('exit', () => {
      const why = failure === undefined ? '' : `: ${failure.message}`
      gone = new ThreadEndError(`The thread ended${why}`, failure && { cause: failure })
      resolve(gone)
      settle?.(gone)
    })
  })
  // An idle thread is no reason for the process to stay alive.
  worker.unref()

  return {
    ended,
    isReady: () => isReady,
    onceReady: (callback) => {
      reportReady = callback
    },
    async run(input) {
      if (gone !== undefined) throw gone
      worker.ref()
      try {
        const answer = await new Promise<ThreadAnswer<Output> | ThreadEndError>((resolve) => {
          settle = resolve
          worker.postMessage(input)
        })
        if (answer instanceof Error) throw answer
        if ('output' in answer) return answer.output
        throw Object.assign(new Error(answer.error.message), answer.error)
      } finally {
        settle = undefined
        worker.unref()
      }
    },
    end() {
      worker.ref()
      void worker.terminate()
    },
  }
}
