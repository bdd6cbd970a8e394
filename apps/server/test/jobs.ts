import { onTestFinished, vi } from 'vitest'
import { createLocalBus } from '../src/platform/bus/local.js'
import type { Database } from '../src/platform/db/open.js'
import { createIds } from '../src/platform/ids.js'
import type { Job, JobContext, JobHandler } from '../src/platform/jobs/handler.js'
import { createQueue, type NewJob, type Queue } from '../src/platform/jobs/queue.js'
import { createRunner, type Runner, type RunnerOptions } from '../src/platform/jobs/runner.js'
import { createLog, type Log } from '../src/platform/telemetry/log.js'
import { ManualTime } from './manual-time.js'
import { Patience } from './patience.js'
import { watchWork } from './work.js'

/** Milliseconds without a heartbeat after which the runners of a bench lose their jobs. */
export const lease = 30_000

/** A queue and its runners on a database, with time of their own. */
export interface JobsBench {
  readonly time: ManualTime
  readonly queue: Queue
  /** Logged lines, one object each. */
  readonly logged: Record<string, unknown>[]
  readonly log: Log
  enqueue(job: NewJob): Promise<string>
  /**
   * Starts a runner, which is stopped after the test. With its own timers, which never advance, it
   * sends no heartbeat, like a killed process.
   */
  start(
    handlers: RunnerOptions['handlers'],
    options?: Partial<RunnerOptions> & { timers?: ManualTime },
  ): Runner
  /** Waits until the runners do nothing without more time or the end of a job. */
  rest(): Promise<void>
  /** Lets time pass, in steps of a second, until the work is done; rejects if it does not end. */
  pass<T>(work: Promise<T>, timers?: ManualTime): Promise<T>
  /** Moves time from timer to timer until the run with this index begins, and returns it. */
  awaitRun(handler: ControlledHandler, index: number): Promise<ControlledRun>
  /** The job under a key, as it is stored. */
  find(kind: string, key: string): Promise<Record<string, unknown> | undefined>
}

export async function createJobsBench(database: Database): Promise<JobsBench> {
  const { db } = database
  const { run, rest } = watchWork(database)
  const time = new ManualTime()
  const ids = createIds()
  const logged: Record<string, unknown>[] = []
  const log = await createLog({
    level: 'info',
    destination: { write: (line) => logged.push(JSON.parse(line)) },
  })
  const bus = createLocalBus(log)
  const queue = createQueue({ db, bus, clock: time, ids })

  return {
    time,
    queue,
    logged,
    log,
    enqueue: (job) => run((tx) => queue.enqueue(tx, job)),
    start(handlers, { timers = time, ...options } = {}) {
      const runner = createRunner({
        db,
        run,
        bus,
        log,
        ids,
        clock: time,
        timers,
        handlers,
        leaseMilliseconds: lease,
        random: () => 0.5,
        ...options,
      })
      void runner.start()
      onTestFinished(async () => {
        await pass(timers, runner.stop(), rest)
      })
      return runner
    },
    rest,
    pass: (work, timers = time) => pass(timers, work, rest),
    async awaitRun(handler, index) {
      for (;;) {
        await rest()
        const run = handler.runs[index]
        if (run) return run
        time.ring()
      }
    },
    find: (kind, key) =>
      db
        .selectFrom('jobs')
        .selectAll()
        .where('kind', '=', kind)
        .where('key', '=', key)
        .executeTakeFirst(),
  }
}

/**
 * Lets time pass, in steps of a second, until the work is done; rejects if it does not end.
 * @param rest waits before each step until nothing is under way
 */
export async function pass<T>(
  time: ManualTime,
  work: Promise<T>,
  rest: () => Promise<void>,
): Promise<T> {
  let done = false
  const finished = work.finally(() => {
    done = true
  })
  const patience = new Patience()
  while (!done) {
    if (patience.isOver()) throw new Error('The work does not end, however much time passes')
    await rest()
    time.advance(1000)
  }
  return finished
}

/** One run of a handler, which the test ends. */
export interface ControlledRun extends JobContext {
  readonly job: Job
  succeed(result?: unknown): void
  fail(error: Error): void
}

export interface ControlledHandler extends JobHandler {
  readonly runs: ControlledRun[]
  /** Waits for the run with this index. */
  run(index: number): Promise<ControlledRun>
}

/** A handler whose runs the test ends. */
export function controlledHandler(options: Omit<JobHandler, 'handler'> = {}): ControlledHandler {
  const runs: ControlledRun[] = []
  return {
    ...options,
    runs,
    handler: (job, { signal, heartbeat }) =>
      new Promise((succeed, fail) => {
        runs.push({ job, signal, heartbeat, succeed, fail })
      }),
    run: (index) =>
      eventually(() => {
        const run = runs[index]
        if (!run) throw new Error(`Run ${index} has not begun, there are ${runs.length}`)
        return run
      }),
  }
}

/** Waits until the assertion holds and returns its result. */
export function eventually<T>(assertion: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(assertion, { interval: 2 })
}

let kinds = 0

/** A kind of jobs that no other test of the file uses. */
export function newKind(): string {
  kinds += 1
  return `kind-${kinds}`
}
