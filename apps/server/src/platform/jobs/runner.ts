import type { EventBus } from '../bus/event-bus.js'
import { type Clock, isoTime, systemTimers, type Timers } from '../clock.js'
import type { Db, Run } from '../db/schema.js'
import type { Ids } from '../ids.js'
import { createLeases, HolderStoppedError, LeaseLostError, ownerName } from '../leases/leases.js'
import { createOutageLog, type Log } from '../telemetry/log.js'
import type { Tracing } from '../telemetry/tracing.js'
import type { Attempt } from './attempt.js'
import type { JobHandler } from './handler.js'
import { createLane } from './lane.js'
import { announceJobs, jobsTopic } from './queue.js'
import { extendLeases, type JobRow, releaseAll } from './store.js'

export interface RunnerOptions {
  db: Db
  run: Run
  bus: EventBus
  clock: Clock
  timers?: Timers
  log: Log
  ids: Ids
  /** Undefined where no traces are made. */
  tracing?: Tracing | undefined
  /** Handlers by kind. Other runners process jobs of other kinds. */
  handlers: Readonly<Record<string, JobHandler>>
  /**
   * Whether no other process can be working, as with SQLite: what a crash left is taken up at once.
   * Default false.
   */
  alone?: boolean
  /** A number from 0 up to 1. Default `Math.random`. */
  random?: () => number
  /**
   * Duration of a lease; the runner extends its leases every third of it. Clocks of processes that share
   * a database must differ by less. Default 30,000.
   */
  leaseMilliseconds?: number
  /** Time between polls without a hint, plus or minus a quarter. Default 5,000. */
  pollMilliseconds?: number
  /** Time that a handler has to end after its signal was aborted. Default 5,000. */
  graceMilliseconds?: number
}

/** Works off jobs until it is stopped. */
export interface Runner extends AsyncDisposable {
  /** Begins to claim jobs. Once. */
  start(): Promise<void>
  /**
   * Claims nothing more and waits for the running jobs, `deadline` milliseconds by default 10,000;
   * then aborts those that are left and gives them back. Disposing does the same.
   */
  stop(options?: { deadline?: number }): Promise<void>
}

/** Makes a runner for the kinds in `handlers`; it claims nothing until it is started. */
export function createRunner(options: RunnerOptions): Runner {
  const { bus, clock, log, run } = options
  const { timers = systemTimers, random = Math.random } = options
  const { leaseMilliseconds = 30_000, pollMilliseconds = 5000, graceMilliseconds = 5000 } = options
  const owner = ownerName(options.ids)
  const deps = {
    db: options.db,
    run,
    clock,
    timers,
    log,
    random,
    tracing: options.tracing,
    owner,
    leaseMilliseconds,
    pollMilliseconds,
    graceMilliseconds,
    outages: createOutageLog(log, {
      begins: 'jobs cannot be claimed, trying again later',
      ends: 'jobs are claimed again',
    }),
    extend: async (claim: JobRow) => (await prolong([claim], leases.end()))(claim),
  }
  const leases = createLeases<Attempt>({
    clock,
    timers,
    log,
    leaseMs: leaseMilliseconds,
    held: openAttempts,
    async prolong(attempts, until) {
      const isKept = await prolong(
        attempts.map(({ row }) => row),
        until,
      )
      return ({ row }) => isKept(row)
    },
    lose: (attempt) => attempt.abort(new LeaseLostError()),
    fault: 'leases of running jobs could not be prolonged',
  })
  const lanes = Object.entries(options.handlers).map(([kind, handler]) => ({
    kind,
    ...createLane(deps, kind, handler),
  }))
  let unsubscribes: (() => void)[] = []
  let stopping: Promise<void> | undefined

  function openAttempts(): Attempt[] {
    return lanes.flatMap((lane) => lane.attempts()).filter((attempt) => attempt.isOpen())
  }

  /** Prolongs leases; returns whether a claim was still this runner's. */
  async function prolong(
    rows: readonly JobRow[],
    until: string,
  ): Promise<(row: JobRow) => boolean> {
    const ids = rows.map((row) => row.id)
    const kept = await run((tx) => extendLeases(tx, owner, ids, until))
    const claims = new Map(kept.map((row) => [row.id, row.claims]))
    return (row) => claims.get(row.id) === row.claims
  }

  async function end(deadline: number): Promise<void> {
    for (const unsubscribe of unsubscribes) unsubscribe()
    await Promise.all(lanes.map((lane) => lane.close()))
    let left: Attempt[] = []
    await leases.finish(deadline, settled(openAttempts()), () => {
      left = openAttempts()
      for (const attempt of left) attempt.abort(new HolderStoppedError())
    })
    // Other runners can begin at once.
    for (const kind of new Set(left.map((attempt) => attempt.row.kind))) announceJobs(bus, kind)
  }

  function stop({ deadline = 10_000 } = {}): Promise<void> {
    stopping ??= end(deadline)
    return stopping
  }

  return {
    async start() {
      if (options.alone) {
        await run((tx) => releaseAll(tx, isoTime(clock.now())), { mayUseReserve: true })
      }
      unsubscribes = lanes.map(({ kind, wake }) =>
        bus.subscribe({ topic: jobsTopic, key: kind }, { onHint: wake, onGap: wake }),
      )
      for (const lane of lanes) lane.wake()
      leases.start()
    },
    stop,
    [Symbol.asyncDispose]: () => stop(),
  }
}

function settled(attempts: readonly Attempt[]): Promise<unknown> {
  return Promise.all(attempts.map((attempt) => attempt.settled))
}
