import { createGate, type Load, WorkerLimitError } from './gate.js'
import { resolveEntry } from './worker-entry.js'
import { startWorkerProcess, WorkerExitError, type WorkerProcess } from './worker-process.js'
import type { TaskEnvelope, TaskResult } from './worker-task.js'

/** Options of a pool of processes. */
export interface WorkerPoolOptions {
  /** Built module that calls `serveTasks`; in a checkout its source is run. */
  entry: URL
  /** Tasks that run at a time, each in a process of its own. */
  workers: number
  /** Places beside those for tasks that take long, so that others need not wait for them; none by default. */
  slow?: SlowLaneOptions
  /** Tasks that wait for a worker; more are refused. */
  maxQueue: number
  /** Milliseconds after which a running task is stopped together with its process. */
  timeLimitMs: number
  /** Megabytes of JavaScript heap for one worker; with its buffers it may take twice as much and 256 MB. */
  memoryLimitMb: number
  /** Size of an output as JSON with all of its pieces, in bytes. */
  maxOutputBytes: number
  /** Milliseconds after which a worker without work ends; workers start when they are needed. */
  idleTimeoutMs: number
  /** Called for workers that end by themselves while they have no task. */
  onError(error: Error): void
}

/** Options of a single task. */
interface TaskOptions<Progress, Piece> {
  /** Stops the task, also while it runs. */
  signal?: AbortSignal
  /** Milliseconds, in place of the pool's time limit. */
  timeLimitMs?: number
  /** Called with the progress of the task, at most a few times a second; it must not throw. */
  onProgress?(progress: Progress): void
  /** Called with the parts of the output that are sent ahead of the rest, in their order; it must not throw. */
  onPiece?(piece: Piece): void
}

/** Runs tasks where they cannot take the server down with them. */
export interface WorkerPool<Input, Output, Progress = never, Piece = never>
  extends AsyncDisposable {
  /**
   * Runs one task. Time spent in the queue does not count for its time limit.
   *
   * @param input anything that can be cloned; buffers are copied to the worker
   * @throws WorkerLimitError if the task ran into a limit or the queue is full
   * @throws WorkerExitError if its process ended for another reason
   * @throws what the task itself threw, as a plain `Error`
   */
  run(input: Input, options?: TaskOptions<Progress, Piece>): Promise<Output>
  /** Tasks that run and wait now. */
  load(): Load
}

/**
 * Processes and not threads, because V8 ends the whole process when a thread allocates too large a
 * piece of memory at once, whatever limits the thread was given.
 */
export function createWorkerPool<Input, Output, Progress = never, Piece = never>(
  options: WorkerPoolOptions,
): WorkerPool<Input, Output, Progress, Piece> {
  const entry = resolveEntry(options.entry)
  const gate = createGate(
    options.workers,
    options.maxQueue,
    () => new WorkerLimitError('queue', `More than ${options.maxQueue} tasks are waiting`),
  )
  const slowLane = createSlowLane({
    ...(options.slow ?? { places: 0, afterMs: options.timeLimitMs }),
    isWanted: () => gate.load().waiting > 0,
  })
  const alive = new Set<WorkerProcess>()
  const idle = new Map<WorkerProcess, NodeJS.Timeout>()
  let closed: Error | undefined

  function take(): WorkerProcess {
    const [idleWorker] = idle.keys()
    if (idleWorker !== undefined && takeIdle(idleWorker)) return idleWorker
    const worker = startWorkerProcess(entry, options.memoryLimitMb)
    alive.add(worker)
    void worker.ended.then((error) => {
      alive.delete(worker)
      if (takeIdle(worker)) options.onError(error)
    })
    return worker
  }

  /** Takes a worker out of the idle ones, if it is one of them. */
  function takeIdle(worker: WorkerProcess): boolean {
    clearTimeout(idle.get(worker))
    return idle.delete(worker)
  }

  function end(worker: WorkerProcess): void {
    takeIdle(worker)
    worker.kill()
  }

  function giveBack(worker: WorkerProcess): void {
    if (!alive.has(worker)) return
    idle.set(worker, setTimeout(end, options.idleTimeoutMs, worker).unref())
  }

  /** Ends a worker after a task, or returns it to the pool. */
  function settle(worker: WorkerProcess, slot: TaskSlot, signal: AbortSignal): void {
    // A process that has once been put last cannot be put first again.
    if (slot.isSlow() || worker.isSpent()) end(worker)
    else if (!signal.aborted) giveBack(worker)
    slot.leave()
  }

  async function runNow(
    input: Input,
    task: TaskOptions<Progress, Piece>,
    leave: () => void,
  ): Promise<Output> {
    const limit = task.timeLimitMs ?? options.timeLimitMs
    const late = AbortSignal.timeout(limit)
    const signal = AbortSignal.any([late, ...(task.signal ? [task.signal] : [])])
    const envelope: TaskEnvelope<Input> = { input, maxOutputBytes: options.maxOutputBytes }
    task.signal?.throwIfAborted()
    const worker = take()
    const slot = slowLane.hold(leave, worker.yieldToOthers)
    signal.addEventListener('abort', worker.kill, { once: true })
    try {
      const result = await worker.run(envelope, {
        onProgress: (progress) => task.onProgress?.(progress as Progress),
        onPiece: (piece) => task.onPiece?.(JSON.parse(piece)),
      })
      return decode<Output>(result, options)
    } catch (error) {
      if (!(error instanceof WorkerExitError)) throw error
      if (closed !== undefined) throw closed
      task.signal?.throwIfAborted()
      if (late.aborted) throw new WorkerLimitError('time', `The task took longer than ${limit} ms`)
      throw toLimitError(error, options) ?? error
    } finally {
      signal.removeEventListener('abort', worker.kill)
      settle(worker, slot, signal)
    }
  }

  return {
    async run(input, task = {}) {
      const leave = once(await gate.enter(task.signal))
      try {
        if (closed !== undefined) throw closed
        return await runNow(input, task, leave)
      } finally {
        leave()
      }
    },
    load() {
      const { running, waiting } = gate.load()
      return { running: running + slowLane.count(), waiting }
    },
    async [Symbol.asyncDispose]() {
      closed = new Error('The worker pool is closed')
      gate.close(closed)
      const workers = [...alive]
      for (const worker of workers) end(worker)
      await Promise.all(workers.map((worker) => worker.ended))
    },
  }
}

function decode<Output>(result: TaskResult, options: WorkerPoolOptions): Output {
  if ('output' in result) return JSON.parse(result.output)
  if ('outputBytes' in result) {
    throw new WorkerLimitError(
      'output',
      `The output has ${result.outputBytes} bytes, more than ${options.maxOutputBytes}`,
    )
  }
  throw Object.assign(new Error(result.error.message), result.error)
}

function toLimitError(
  error: WorkerExitError,
  options: WorkerPoolOptions,
): WorkerLimitError | undefined {
  if (error.processorTimeMs !== undefined) {
    return new WorkerLimitError(
      'time',
      `The task took more than ${error.processorTimeMs} ms of processor time`,
      { cause: error },
    )
  }
  if (!error.outOfMemory) return undefined
  return new WorkerLimitError(
    'memory',
    `The task needed more than ${options.memoryLimitMb} MB of memory`,
    { cause: error },
  )
}

function once(work: () => void): () => void {
  let done = false
  return () => {
    if (!done) work()
    done = true
  }
}

/** The slot that a task occupies until it leaves. */
interface TaskSlot {
  /** Whether the task runs beside the ordinary places by now. */
  isSlow(): boolean
  leave(): void
}

interface SlowLane {
  /**
   * Watches over a task: once it takes long while others wait, its ordinary place goes to them.
   *
   * @param leave gives the ordinary place back
   * @param onSlow called when it is given back early
   */
  hold(leave: () => void, onSlow: () => void): TaskSlot
  /** Tasks that run beside the ordinary places. */
  count(): number
}

interface SlowLaneOptions {
  /** Maximum number of slow tasks outside of the ordinary places; further ones keep theirs. */
  places: number
  /** Milliseconds after which a task counts as slow. */
  afterMs: number
}

/**
 * Keeps tasks that take long from holding up those that do not.
 *
 * @param options.isWanted whether a task waits for an ordinary place
 */
function createSlowLane(options: SlowLaneOptions & { isWanted: () => boolean }): SlowLane {
  let taken = 0
  return {
    count: () => taken,
    hold(leave, onSlow) {
      let slow = false
      const timer = setInterval(() => {
        if (taken >= options.places || !options.isWanted()) return
        clearInterval(timer)
        slow = true
        taken += 1
        leave()
        onSlow()
      }, options.afterMs)
      return {
        isSlow: () => slow,
        leave() {
          clearInterval(timer)
          if (slow) taken -= 1
          else leave()
        },
      }
    },
  }
}
