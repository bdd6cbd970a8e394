import { hostname } from 'node:os'
import { type Clock, isoTime, type Timers } from '../../../platform/clock.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import { ownerName } from '../../../platform/leases/leases.js'
import type { Log } from '../../../platform/telemetry/log.js'
import * as store from './store.js'
import type { BackupRunRow } from './table.js'

const silent =
  'The backup was suspended for too long, or could not reach the database: contents may have been removed, or another backup may have begun. Make it again.'

/** Another backup of the same data runs now. */
class BackupRunningError extends Error {
  override readonly name = 'BackupRunningError'
}

/** The process did not prolong its lease in time, so contents may have been removed meanwhile. */
class BackupInterruptedError extends Error {
  override readonly name = 'BackupInterruptedError'
}

/** Ensures that this is the only backup, and that no content is removed meanwhile. */
export interface Lease {
  /** Aborted when that is lost. */
  readonly signal: AbortSignal
  /**
   * To be called before a step that would damage the backup of another process. Timers of a process that was suspended
   * come late; its clock does not.
   * @throws Error when the lease may have expired
   */
  requireLease(): void
  /**
   * Extends the lease now.
   * @throws Error when it was lost at any time since the beginning
   */
  confirm(): Promise<void>
}

export interface LeaseDeps {
  db: Db
  run: Run
  clock: Clock
  timers: Timers
  ids: Ids
  log: Log
}

/**
 * Runs `work` as the only backup of this database. Until it ends, no process removes contents of files: what a
 * snapshot that `work` takes refers to stays readable.
 * @throws BackupRunningError
 * @throws BackupInterruptedError when the lease was lost meanwhile, whatever `work` did
 */
export async function withLease<T extends { storedBytes: number }>(
  deps: LeaseDeps,
  { id, target }: { id: string; target: string },
  signal: AbortSignal,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const { run, clock, timers, log } = deps
  let leaseUntil = await begin(deps, id, target)
  const lost = new AbortController()
  const ending = AbortSignal.any([signal, lost.signal])
  let cancel = () => {}
  let heartbeat: Promise<void> | undefined

  function lose(): void {
    lost.abort(new BackupInterruptedError(silent))
    lost.signal.throwIfAborted()
  }

  async function extend(): Promise<void> {
    const now = clock.now()
    if (!(await run((tx) => store.extendLease(tx, id, now), { mayUseReserve: true }))) lose()
    leaseUntil = now + store.leaseMs
  }

  const lease: Lease = {
    signal: ending,
    requireLease() {
      if (clock.now() >= leaseUntil) lose()
      ending.throwIfAborted()
    },
    async confirm() {
      await extend()
      ending.throwIfAborted()
    },
  }
  const beat = async () => {
    await extend().catch((err: unknown) => {
      if (!lost.signal.aborted) log.warn({ err }, 'the lease of the backup cannot be extended')
    })
  }
  const plan = () => {
    cancel = timers.after(store.leaseMs / 3, () => {
      heartbeat = beat().then(plan)
    })
  }
  plan()
  const end = async (state: BackupRunRow['state'], error: unknown, storedBytes: number | null) => {
    await heartbeat
    cancel()
    const row = {
      state,
      ended_at: isoTime(clock.now()),
      error: error === undefined ? null : textOf(error),
      stored_bytes: storedBytes,
    }
    return await run((tx) => store.endRun(tx, id, row), { mayUseReserve: true })
  }
  try {
    const result = await work(lease)
    lost.signal.throwIfAborted()
    if (!(await end('succeeded', undefined, result.storedBytes))) lose()
    return result
  } catch (error) {
    await end('failed', error, null).catch((err: unknown) => {
      log.warn({ err }, 'the end of a backup cannot be stored')
    })
    throw error
  }
}

/** Returns when the lease ends, in milliseconds since the Unix epoch. */
async function begin(deps: LeaseDeps, id: string, target: string): Promise<number> {
  const { run, clock, ids } = deps
  const now = clock.now()
  const until = now + store.leaseMs
  await run(
    async (tx) => {
      await store.lockRuns(tx)
      for (const running of await store.findRunning(tx)) {
        const { lease_until: end } = running
        const isValid = end > isoTime(now) && end <= store.latestLease(now)
        if (isValid && !hasEnded(running.owner)) {
          throw new BackupRunningError(
            `A backup to ${running.target} has been running since ${running.started_at} (${running.owner}). Wait for its end; if its process has ended, another one may start after ${end}.`,
          )
        }
        await store.endRun(tx, running.id, {
          state: 'interrupted',
          ended_at: isoTime(now),
          error: 'The process ended without notice.',
          stored_bytes: null,
        })
      }
      await store.insertRun(tx, {
        id,
        owner: ownerName(ids),
        target,
        started_at: isoTime(now),
        lease_until: isoTime(until),
      })
    },
    { mayUseReserve: true },
  )
  return until
}

/** Whether the owner of a run was a process of this machine that is gone: nobody has to wait for its lease. */
function hasEnded(owner: string): boolean {
  const [host, pid] = owner.split('/')
  if (host !== hostname()) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}

function textOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 1000)
}
