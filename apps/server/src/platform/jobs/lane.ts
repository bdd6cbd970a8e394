import { isoTime } from '../clock.js'
import type { Db } from '../db/schema.js'
import { createWatch } from '../leases/watch.js'
import type { OutageLog } from '../telemetry/log.js'
import { type Attempt, type AttemptDeps, startAttempt } from './attempt.js'
import type { JobHandler } from './handler.js'
import { interruptionPause, storeRelease } from './outcome.js'
import { type ClaimedJob, claimJobs, findNextDue, type JobRow } from './store.js'

export interface LaneDeps extends AttemptDeps {
  db: Db
  /** Name of the runner. */
  owner: string
  /** Milliseconds for which a claim is valid without a heartbeat. */
  leaseMilliseconds: number
  /** Milliseconds between polls without a hint, plus or minus a quarter. */
  pollMilliseconds: number
  /** Shared by all lanes, which a database that is away concerns together. */
  outages: OutageLog
}

/** Claims and works off the jobs of one kind. */
export interface Lane {
  /** Something may be due: looks as soon as possible. */
  wake(): void
  /** Claims nothing from now on; resolves when what was just being claimed is settled. */
  close(): Promise<void>
  /** The attempts whose handlers have not returned. */
  attempts(): Attempt[]
}

/** Milliseconds before another look for a job that is due and yet cannot be claimed now. */
const contendedPause = 100

/** Makes the lane of one kind; it claims nothing until it is woken. */
export function createLane(deps: LaneDeps, kind: string, handler: JobHandler): Lane {
  const { db, run, clock, timers, log, random, owner, outages } = deps
  const { concurrency = 1, perScope, mayUseReserve = false } = handler
  const held = new Map<string, Attempt>()
  /** Number of attempts by scope. */
  const running = new Map<string, number>()
  let closed = false
  const watch = createWatch({
    timers,
    name: kind,
    outages,
    look: fill,
    pauseAfterFault: pollPause,
    onAlarm: () => watch.wake(),
  })

  /** Returns the milliseconds until there may be more to claim; undefined with no place left. */
  async function fill(): Promise<number | undefined> {
    const free = concurrency - held.size
    // The next attempt to end looks again.
    if (free <= 0) return undefined
    const now = clock.now()
    const request = {
      kind,
      limit: free,
      perScope,
      running,
      owner,
      now: isoTime(now),
      leaseUntil: isoTime(now + deps.leaseMilliseconds),
      // After a pause of the process its own leases may have run out too.
      held: [...held.keys()],
      postpone(interruptions: number) {
        const pause = interruptionPause(interruptions, random)
        return pause > 0 ? isoTime(now + pause) : undefined
      },
    }
    const { claimed: rows, postponed } = await run((tx) => claimJobs(tx, request), {
      mayUseReserve,
    })
    for (const row of postponed) logPostponed(row)
    if (closed) await release(rows)
    else rows.forEach(begin)
    if (rows.length === free) return undefined
    const due = await findNextDue(db, { kind, perScope, running })
    if (due === undefined) return pollPause()
    const wait = Date.parse(due) - clock.now()
    return Math.min(wait > 0 ? wait : contendedPause, pollPause())
  }

  function logPostponed({ id: job, key, interruptions, due_at: retryAt }: JobRow): void {
    const about = { job, kind, key: key ?? undefined, interruptions, retryAt }
    log.warn(about, 'job interrupted again by the end of its process, deferred')
  }

  function begin(row: ClaimedJob): void {
    const attempt = startAttempt(deps, row, handler)
    held.set(row.id, attempt)
    count(row.scope, 1)
    attempt.ended.then(() => {
      held.delete(row.id)
      count(row.scope, -1)
      watch.wake()
    })
  }

  function count(scope: string, change: number): void {
    const next = (running.get(scope) ?? 0) + change
    if (next === 0) running.delete(scope)
    else running.set(scope, next)
  }

  function release(rows: readonly JobRow[]): Promise<void> {
    return run(async (tx) => {
      for (const row of rows) await storeRelease(tx, row, isoTime(clock.now()))
    })
  }

  function pollPause(): number {
    return deps.pollMilliseconds * (0.75 + random() / 2)
  }

  return {
    wake: watch.wake,
    async close() {
      closed = true
      await watch.close()
    },
    attempts: () => [...held.values()],
  }
}
