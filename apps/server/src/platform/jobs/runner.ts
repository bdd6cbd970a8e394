import { hostname } from 'node:os'
import type { EventBus } from '../bus/event-bus.js'
import { type Clock, isoTime } from '../clock.js'
import type { Db, Run } from '../db/schema.js'
import type { Ids } from '../ids.js'
import type { Log } from '../telemetry/log.js'
import { createOutageLog } from '../telemetry/outage-log.js'
import { systemTimers, type Timers } from '../timers.js'
import type { Attempt } from './attempt.js'
import { JobLostError, RunnerStoppedError } from './errors.js'
import type { JobHandler } from './handler.js'
import { announceJobs, jobsTopic } from './hints.js'
import { createLane } from './lane.js'
import { extendLeases, type JobRow, releaseAll } from './store.js'

export interface RunnerOptions {
  db: Db
  run: Run
  bus: EventBus
  clock: Clock
  timers?: Timers
  log: Log
  ids: Ids
  /** What to do, by kind. Jobs of other kinds are left to other runners. */
  handlers: Readonly<Record<string, JobHandler>>
  /**
   * Whether no other process can be working, as with SQLite: what a crash left is taken up at once.
   * Default false.
   */
  alone?: boolean
  /** A number from 0 up to 1. Default `Math.random`. */
  random?: () => number
  /**
   * How long a job is this runner's without a sign of life; every third of it there is one. Clocks of
   * processes that share a database differ by less. Default 30,000.
   */
  leaseMilliseconds?: number
  /** How long to wait without a hint before looking all the same, a quarter more or less. Default 5,000. */
  pollMilliseconds?: number
  /** How long a handler may go on after its signal was aborted. Default 5,000. */
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

export function createRunner(options: RunnerOptions): Runner {
  const { bus, clock, log, run } = options
  const { timers = systemTimers, random = Math.random } = options
  const { leaseMilliseconds = 30_000, pollMilliseconds = 5000, graceMilliseconds = 5000 } = options
  const owner = `${hostname()}/${process.pid}/${options.ids.uuid()}`
  const deps = {
    ...{ db: options.db, run, clock, timers, log, random, owner },
    ...{ leaseMilliseconds, pollMilliseconds, graceMilliseconds },
    outages: createOutageLog(log, {
      begins: 'jobs cannot be claimed, trying again later',
      ends: 'jobs are claimed again',
    }),
    extend: async (claim: JobRow) => (await extend([claim])).get(claim.id) === claim.claims,
  }
  const lanes = Object.entries(options.handlers).map(([kind, handler]) => ({
    kind,
    ...createLane(deps, kind, handler),
  }))
  let unsubscribes: (() => void)[] = []
  let beating: Promise<void> | undefined
  let cancelBeat = () => {}
  let stopping: Promise<void> | undefined

  function openAttempts(): Attempt[] {
    return lanes.flatMap((lane) => lane.attempts()).filter((attempt) => attempt.isOpen())
  }

  /** Prolongs leases and answers the claims that were still this runner's, by job. */
  async function extend(rows: readonly JobRow[]): Promise<Map<string, number>> {
    const until = isoTime(clock.now() + leaseMilliseconds)
    const ids = rows.map((row) => row.id)
    const kept = await run((tx) => extendLeases(tx, owner, ids, until))
    return new Map(kept.map(({ id, claims }) => [id, claims]))
  }

  /** Gives a sign of life for every running job, and ends those that are lost. */
  async function beat(): Promise<void> {
    const attempts = openAttempts()
    if (attempts.length === 0) return
    try {
      const kept = await extend(attempts.map((attempt) => attempt.row))
      for (const attempt of attempts) {
        if (kept.get(attempt.row.id) !== attempt.row.claims) attempt.abort(new JobLostError())
      }
    } catch (err) {
      log.warn({ err }, 'leases of running jobs could not be prolonged')
    }
  }

  function scheduleBeat(): void {
    cancelBeat = timers.after(leaseMilliseconds / 3, () => {
      beating = beat().then(scheduleBeat)
    })
  }

  async function end(deadline: number): Promise<void> {
    for (const unsubscribe of unsubscribes) unsubscribe()
    await Promise.all(lanes.map((lane) => lane.close()))
    await within(deadline, settled(openAttempts()))
    const left = openAttempts()
    for (const attempt of left) attempt.abort(new RunnerStoppedError('The process stops'))
    await settled(left)
    await beating
    cancelBeat()
    // Whoever still runs can begin at once.
    for (const kind of new Set(left.map((attempt) => attempt.row.kind))) announceJobs(bus, kind)
  }

  async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
    let cancel = () => {}
    const late = new Promise<void>((resolve) => {
      cancel = timers.after(milliseconds, resolve)
    })
    await Promise.race([work, late])
    cancel()
  }

  function stop({ deadline = 10_000 } = {}): Promise<void> {
    stopping ??= end(deadline)
    return stopping
  }

  return {
    async start() {
      if (options.alone) {
        await run((tx) => releaseAll(tx, isoTime(clock.now())), { freesRoom: true })
      }
      unsubscribes = lanes.map(({ kind, wake }) =>
        bus.subscribe({ topic: jobsTopic, key: kind }, { onHint: wake, onGap: wake }),
      )
      for (const lane of lanes) lane.wake()
      scheduleBeat()
    },
    stop,
    [Symbol.asyncDispose]: () => stop(),
  }
}

function settled(attempts: readonly Attempt[]): Promise<unknown> {
  return Promise.all(attempts.map((attempt) => attempt.settled))
}
