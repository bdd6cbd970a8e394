import { isoTime } from '../clock.js'
import type { Db } from '../db/schema.js'
import type { OutageLog } from '../telemetry/outage-log.js'
import { type Attempt, type AttemptDeps, startAttempt } from './attempt.js'
import type { JobHandler } from './handler.js'
import { interruptionPause, storeRelease } from './outcome.js'
import { type ClaimedJob, claimJobs, findNextDue, type JobRow } from './store.js'

export interface LaneDeps extends AttemptDeps {
  db: Db
  /** Name of the runner. */
  owner: string
  leaseMilliseconds: number
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

export function createLane(deps: LaneDeps, kind: string, handler: JobHandler): Lane {
  const { db, run, clock, timers, log, random, owner, outages } = deps
  const { concurrency = 1, freesRoom = false } = handler
  const held = new Map<string, Attempt>()
  let wanted = false
  let closed = false
  let looking: Promise<void> | undefined
  let cancelAlarm = () => {}

  function wake(): void {
    wanted = true
    if (!closed) looking ??= look()
  }

  /** Fills the free places until nobody has asked for another look meanwhile; then sets the alarm. */
  async function look(): Promise<void> {
    cancelAlarm()
    let pause = 0
    try {
      while (wanted && !closed) {
        wanted = false
        pause = await fill()
      }
      outages.worked(kind)
    } catch (err) {
      outages.failed(kind, err)
      pause = pollPause()
    }
    looking = undefined
    // With all places taken, the next attempt to end looks again.
    if (!closed && held.size < concurrency) cancelAlarm = timers.after(pause, wake)
  }

  /** Answers the milliseconds until there may be something more to claim. */
  async function fill(): Promise<number> {
    const free = concurrency - held.size
    if (free <= 0) return 0
    const now = clock.now()
    const request = {
      kind,
      limit: free,
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
    const { claimed: rows, postponed } = await run((tx) => claimJobs(tx, request), { freesRoom })
    for (const row of postponed) logPostponed(row)
    if (closed) await release(rows)
    else rows.forEach(begin)
    if (rows.length === free) return 0
    const due = await findNextDue(db, kind)
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
    attempt.ended.then(() => {
      held.delete(row.id)
      wake()
    })
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
    wake,
    async close() {
      closed = true
      cancelAlarm()
      await looking
    },
    attempts: () => [...held.values()],
  }
}
