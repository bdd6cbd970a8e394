import { hostname } from 'node:os'
import { type Clock, isoTime, type Timers } from '../../../platform/clock.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import { ownerName } from '../../../platform/leases/leases.js'
import type { Log } from '../../../platform/telemetry/log.js'
import * as store from './store.js'
import type { BackupRunRow } from './table.js'

/** Milliseconds after which a backup counts as interrupted if its process does not extend the lease. */
const leaseMs = 60_000

/** Another backup of the same data runs now. */
class BackupRunningError extends Error {
  override readonly name = 'BackupRunningError'
}

/** The process did not extend its lease in time, so contents may have been removed meanwhile. */
class BackupInterruptedError extends Error {
  override readonly name = 'BackupInterruptedError'
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
 * @param work its signal is aborted when the lease is lost
 * @throws BackupRunningError
 */
export async function withLease<T extends { storedBytes: number }>(
  deps: LeaseDeps,
  { id, target }: { id: string; target: string },
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { run, clock, timers, log } = deps
  await begin(deps, id, target)
  const lost = new AbortController()
  let cancel = () => {}
  let heartbeat: Promise<void> | undefined
  const extend = async () => {
    try {
      const until = isoTime(clock.now() + leaseMs)
      if (await run((tx) => store.extendLease(tx, id, until), { mayUseReserve: true })) return
      lost.abort(
        new BackupInterruptedError(
          'The backup did not extend its lease in time, so another process may have removed contents: run it again.',
        ),
      )
    } catch (err) {
      log.warn({ err }, 'the lease of the backup cannot be extended')
    }
  }
  const plan = () => {
    cancel = timers.after(leaseMs / 3, () => {
      heartbeat = extend().then(plan)
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
    await run((tx) => store.endRun(tx, id, row), { mayUseReserve: true })
  }
  try {
    const result = await work(AbortSignal.any([signal, lost.signal]))
    lost.signal.throwIfAborted()
    await end('succeeded', undefined, result.storedBytes)
    return result
  } catch (error) {
    await end('failed', error, null).catch((err: unknown) => {
      log.warn({ err }, 'the end of a backup cannot be stored')
    })
    throw error
  }
}

async function begin(deps: LeaseDeps, id: string, target: string): Promise<void> {
  const { run, clock, ids } = deps
  const now = clock.now()
  await run(
    async (tx) => {
      await store.lockRuns(tx)
      for (const running of await store.findRunning(tx)) {
        if (running.lease_until > isoTime(now) && !hasEnded(running.owner)) {
          throw new BackupRunningError(
            `A backup to ${running.target} has been running since ${running.started_at} (${running.owner}). Wait until it ends; if its process has ended, its lease expires at ${running.lease_until}.`,
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
        lease_until: isoTime(now + leaseMs),
      })
    },
    { mayUseReserve: true },
  )
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
