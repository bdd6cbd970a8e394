import { Worker } from 'node:worker_threads'
import { createGate, type Load, WorkerLimitError } from './gate.js'
import { awaitAtExit, createEndState, endThread } from './thread-end.js'
import type { ThreadData, ThreadReady, ThreadResult } from './thread-task.js'
import { createTimeLimit, type TimeLimit } from './time-limit.js'
import { resolveThreadEntry, type ThreadEntry } from './worker-entry.js'

/** Options of a pool of threads. */
export interface ThreadPoolOptions {
  /** Built module that calls `serveThread`; in a checkout its source is run. */
  entry: URL
  /** Data that every thread receives at its start, as a structured clone. */
  setup: unknown
  /** Tasks that run at a time, each in a thread of its own; threads start when they are needed. */
  threads: number
  /** Tasks that wait for a thread; more are refused. */
  maxQueue: number
  /**
   * Milliseconds that a task may take, waiting for a place included; not those in which a thread starts, its
   * own or one that it waits for.
   */
  timeLimitMs: number
  /** Megabytes of JavaScript heap for one thread. */
  memoryLimitMb: number
  /** Called for threads that end before their pool does: by a fault, or because a task took too long. */
  onError(error: Error): void
}

/**
 * Milliseconds that threads may take to start while a task waits: one takes seconds on a machine that is
 * short of processors.
 */
const startLimitMs = 60_000

/** Runs short tasks beside the event loop, in threads that stay warm between them. */
export interface ThreadPool<Input, Output> extends AsyncDisposable {
  /**
   * Runs one task. Once it runs, an abort only gives up waiting for it.
   *
   * @param input anything that can be cloned
   * @throws WorkerLimitError with limit `time` or `queue`
   * @throws ThreadEndError if its thread ended; the next task gets a new one
   * @throws what the task itself threw, as a plain `Error`
   */
  run(input: Input, signal?: AbortSignal): Promise<Output>
  /** Tasks that run and wait now. */
  load(): Load
}

/**
 * Threads and not processes: they share the code and start in a tenth of the time. What could bring a
 * thread down, foreign files, belongs into the processes of `createWorkerPool`.
 */
export function createThreadPool<Input, Output>(
  options: ThreadPoolOptions,
): ThreadPool<Input, Output> {
  const entry = resolveThreadEntry(options.entry)
  const gate = createGate(
    options.threads,
    options.maxQueue,
    () => new WorkerLimitError('queue', `More than ${options.maxQueue} tasks are waiting`),
  )
  const alive = new Set<Thread<Input, Output>>()
  // The last one used first: the others may never be needed.
  const idle: Thread<Input, Output>[] = []
  const starting = new Set<Thread<Input, Output>>()
  /** Of the tasks that wait for a place. */
  const waiting = new Set<TimeLimit>()
  let closed: Error | undefined

  function take(): Thread<Input, Output> {
    const idleThread = idle.pop()
    if (idleThread !== undefined) return idleThread
    const thread = startThread<Input, Output>(entry, options.setup, options.memoryLimitMb)
    alive.add(thread)
    starting.add(thread)
    limitWaiting()
    thread.onceReady(() => endStart(thread))
    void thread.ended.then((error) => {
      alive.delete(thread)
      endStart(thread)
      const place = idle.indexOf(thread)
      if (place >= 0) idle.splice(place, 1)
      if (closed === undefined) options.onError(error)
    })
    return thread
  }

  function endStart(thread: Thread<Input, Output>): void {
    if (starting.delete(thread)) limitWaiting()
  }

  /** Whoever waits for a place also waits for the threads that start in the places. */
  function limitWaiting(): void {
    for (const limit of waiting) limit.count(starting.size > 0 ? 'start' : 'work')
  }

  /** Runs a task and gives the place back once the thread is free, however long that takes. */
  async function runIn(thread: Thread<Input, Output>, input: Input): Promise<Output> {
    try {
      return await thread.run(input)
    } catch (error) {
      if (error instanceof ThreadEndError && closed !== undefined) throw closed
      throw error
    } finally {
      if (alive.has(thread)) idle.push(thread)
    }
  }

  return {
    async run(input, signal) {
      if (closed !== undefined) throw closed
      const stop = new AbortController()
      let thread: Thread<Input, Output> | undefined
      const limit = createTimeLimit({ work: options.timeLimitMs, start: startLimitMs }, () => {
        const reason = `The task took longer than ${options.timeLimitMs} ms`
        stop.abort(new WorkerLimitError('time', reason))
        // Also when nobody waits for the task any more: its place would be lost.
        thread?.end(reason)
      })
      const giveUp = () => stop.abort(signal?.reason)
      signal?.addEventListener('abort', giveUp, { once: true })
      if (signal?.aborted) giveUp()
      const forget = () => {
        limit.end()
        signal?.removeEventListener('abort', giveUp)
      }
      limit.count(starting.size > 0 ? 'start' : 'work')
      waiting.add(limit)
      const leave = await gate
        .enter(stop.signal)
        .catch((error: unknown) => {
          forget()
          throw error
        })
        .finally(() => waiting.delete(limit))
      if (closed !== undefined) {
        forget()
        leave()
        throw closed
      }
      try {
        thread = take()
      } catch (error) {
        // The system may have none left, and has some again later.
        forget()
        leave()
        throw error
      }
      // Ended for its start, it would leave the next task with another thread that has to start.
      limit.count(thread.isReady() ? 'work' : 'start')
      thread.onceReady(() => limit.count('work'))
      const running = runIn(thread, input).finally(() => {
        forget()
        leave()
      })
      return await Promise.race([running, aborted(stop.signal)])
    },
    load: gate.load,
    async [Symbol.asyncDispose]() {
      closed = new Error('The thread pool is closed')
      gate.close(closed)
      const threads = [...alive]
      for (const thread of threads) thread.end('The thread pool is closed')
      await Promise.all(threads.map((thread) => thread.ended))
    },
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** A thread ended while it had work or before it could have any. */
class ThreadEndError extends Error {
  override readonly name = 'ThreadEndError'
}

/** A thread that does one task at a time. */
interface Thread<Input, Output> {
  /**
   * @throws ThreadEndError if the thread ends first
   * @throws what the task threw, as a plain `Error`
   */
  run(input: Input): Promise<Output>
  /** Whether the thread has started and does at once what it is given. */
  isReady(): boolean
  /** Calls back once the thread starts; never if it has started or ends before. */
  onceReady(callback: () => void): void
  /** Ends the thread, once a call in `uncut` has finished. @param reason for the error of its task */
  end(reason: string): void
  /** Resolves with the reason once the thread has ended. */
  readonly ended: Promise<ThreadEndError>
}

/** @param memoryLimitMb megabytes of JavaScript heap at which the thread ends */
function startThread<Input, Output>(
  entry: ThreadEntry,
  setup: unknown,
  memoryLimitMb: number,
): Thread<Input, Output> {
  const endState = createEndState()
  const worker = new Worker(entry.code, {
    eval: entry.isScript,
    execArgv: entry.execArgv,
    workerData: { setup, endState } satisfies ThreadData,
    // It needs no secrets of the server: it opens what its setup names.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb },
  })
  awaitAtExit(worker, endState)
  let failure: Error | undefined
  let reason: string | undefined
  // Called and not raced against `ended`: a promise that lives as long as the thread would keep a
  // reaction, and with it the result, for every task that ever ran.
  let settle: ((result: ThreadResult<Output> | ThreadEndError) => void) | undefined
  let gone: ThreadEndError | undefined
  let isReady = false
  const reportReady: (() => void)[] = []
  worker.on('error', (error: Error) => {
    failure = error
  })
  worker.on('message', (message: ThreadReady | ThreadResult<Output>) => {
    if (!('ready' in message)) {
      settle?.(message)
      return
    }
    isReady = true
    for (const report of reportReady.splice(0)) report()
  })
  const ended = new Promise<ThreadEndError>((resolve) => {
    worker.once('exit', () => {
      const message = failure?.message ?? reason
      const why = message === undefined ? '' : `: ${message}`
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
      if (!isReady) reportReady.push(callback)
    },
    async run(input) {
      if (gone !== undefined) throw gone
      worker.ref()
      try {
        const result = await new Promise<ThreadResult<Output> | ThreadEndError>((resolve) => {
          settle = resolve
          worker.postMessage(input)
        })
        if (result instanceof Error) throw result
        if ('output' in result) return result.output
        throw Object.assign(new Error(result.error.message), result.error)
      } finally {
        settle = undefined
        worker.unref()
      }
    },
    end(why) {
      reason ??= why
      worker.ref()
      endThread(worker, endState)
    },
  }
}
