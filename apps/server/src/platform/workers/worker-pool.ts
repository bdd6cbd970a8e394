import { Piscina } from 'piscina'
import { createGate } from './gate.js'
import { resolveEntry } from './worker-entry.js'
import { WorkerLimitError } from './worker-errors.js'
import type { TaskEnvelope } from './worker-task.js'

/** What bounds the work of a pool. */
export interface WorkerPoolOptions {
  /** Built module that exports `task`, made by `defineTask`; in a checkout its source is loaded. */
  entry: URL
  /** Tasks that run at a time, each in a thread of its own. */
  threads: number
  /** Tasks that wait for a thread; more are refused. */
  maximumQueue: number
  /** Milliseconds after which a running task is stopped together with its thread. */
  timeLimitMs: number
  /** Megabytes of JavaScript heap for one thread. */
  memoryLimitMb: number
  /** Size of an encoded output, in bytes. */
  maximumOutputBytes: number
  /** Milliseconds after which a thread without work ends; threads start when they are needed. */
  idleTimeoutMs: number
  /** Told about threads that die without a task. */
  onError(error: unknown): void
}

/** What a single task may differ in. */
export interface TaskOptions {
  /** Stops the task, also while it runs. */
  signal?: AbortSignal
  /** Buffers of the input that are handed over instead of copied; unusable here afterwards. */
  transfer?: readonly ArrayBuffer[]
  /** Milliseconds, in place of the pool's time limit. */
  timeLimitMs?: number
}

/** Runs tasks in threads that cannot take the process down with them. */
export interface WorkerPool<Input, Output> extends AsyncDisposable {
  /**
   * Runs one task. Time spent in the queue does not count for its time limit.
   *
   * @throws WorkerLimitError if the task ran into a limit or the queue is full
   * @throws what the task itself threw, as a plain `Error`
   */
  run(input: Input, options?: TaskOptions): Promise<Output>
}

export function createWorkerPool<Input, Output>(
  options: WorkerPoolOptions,
): WorkerPool<Input, Output> {
  const piscina = new Piscina({
    ...resolveEntry(options.entry),
    name: 'task',
    minThreads: 0,
    maxThreads: options.threads,
    idleTimeout: options.idleTimeoutMs,
    resourceLimits: { maxOldGenerationSizeMb: options.memoryLimitMb },
    // What reads foreign files has no business with the secrets of the process.
    env: {},
    recordTiming: false,
  })
  // The library's own queue does not bound tasks that can be aborted, and counts no time from start.
  const gate = createGate(
    options.threads,
    options.maximumQueue,
    () => new WorkerLimitError('queue', `More than ${options.maximumQueue} tasks are waiting`),
  )
  const running = new Set<AbortController>()
  let closed: Error | undefined

  piscina.on('error', (error: unknown) => {
    options.onError(error)
    // No thread could start: what was meant for one would wait until its time is over.
    if (piscina.threads.length === 0) for (const task of running) task.abort(error)
  })

  async function runNow(input: Input, task: TaskOptions, stop: AbortController): Promise<Output> {
    const limit = task.timeLimitMs ?? options.timeLimitMs
    const timer = setTimeout(() => {
      stop.abort(new WorkerLimitError('time', `The task took longer than ${limit} ms`))
    }, limit)
    const signal = AbortSignal.any([stop.signal, ...(task.signal ? [task.signal] : [])])
    const envelope: TaskEnvelope<Input> = { input, maximumOutputBytes: options.maximumOutputBytes }
    try {
      const transferList = [...(task.transfer ?? [])]
      return decode<Output>(await piscina.run(envelope, { signal, transferList }), options)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw toLimitError(error, options) ?? error
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    async run(input, task = {}) {
      const leave = await gate.enter(task.signal)
      if (closed !== undefined) throw closed
      const stop = new AbortController()
      running.add(stop)
      try {
        return await runNow(input, task, stop)
      } finally {
        running.delete(stop)
        leave()
      }
    },
    async [Symbol.asyncDispose]() {
      closed = new Error('The worker pool is closed')
      gate.close(closed)
      for (const task of running) task.abort(closed)
      await piscina.destroy()
    },
  }
}

/** The answer of `defineTask`: an encoded output, or the size of one that is too large. */
function decode<Output>(answer: unknown, options: WorkerPoolOptions): Output {
  if (answer instanceof Uint8Array) return JSON.parse(new TextDecoder().decode(answer))
  throw new WorkerLimitError(
    'output',
    `The output has ${answer} bytes, more than ${options.maximumOutputBytes}`,
  )
}

function toLimitError(error: unknown, options: WorkerPoolOptions): WorkerLimitError | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== 'ERR_WORKER_OUT_OF_MEMORY') return undefined
  return new WorkerLimitError(
    'memory',
    `The task needed more than ${options.memoryLimitMb} MB of memory`,
    { cause: error },
  )
}
