import { hostname } from 'node:os'
import { type Clock, isoTime, type Timers } from '../clock.js'
import type { Ids } from '../ids.js'
import type { Log } from '../telemetry/log.js'

/*
 * A lease reserves work in the database for one process for some time: the row names the owner and
 * the end. The owner prolongs its leases while it works. If it does not, they expire, and any process
 * may claim the work. A process that lost a lease stops the work at once and stores nothing: the
 * transaction that ends the work checks that the claim is still there.
 *
 * Work is found, claimed and ended by SQL where its table is. Clocks of processes that share a
 * database differ by less than a lease.
 */

/** Aborts work whose lease expired, or whose row is gone. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'

  constructor() {
    super('The lease expired, or what it was for is gone')
  }
}

/** Aborts work because its process stops; the work is released, so that others do it. */
export class HolderStoppedError extends Error {
  override readonly name = 'HolderStoppedError'

  constructor() {
    super('The process stops')
  }
}

export interface LeasesOptions<Work> {
  clock: Clock
  timers: Timers
  log: Log
  /** Milliseconds that a lease is valid; it is prolonged every third of this. */
  leaseMs: number
  /** The work that needs its lease now. */
  held: () => readonly Work[]
  /**
   * Prolongs leases until an ISO 8601 time.
   * @returns whether this process still had the lease of a work
   */
  prolong: (works: readonly Work[], until: string) => Promise<(work: Work) => boolean>
  /** Aborts work whose lease was lost; it may have ended meanwhile. */
  lose: (work: Work) => void
  /** Log line for leases that could not be prolonged. */
  fault: string
}

/** The leases of one process on work of one sort. */
export interface Leases {
  /** Returns the ISO 8601 time at which a lease that begins now expires. */
  end(): string
  /** Begins to prolong what is held. */
  start(): void
  /**
   * Waits until the work ends, calls `giveUp` if that takes longer than `timeLeft` milliseconds, and
   * prolongs nothing more after the end.
   */
  finish(timeLeft: number, ended: Promise<unknown>, giveUp: () => void): Promise<void>
}

/** Makes the heartbeat of leases, which begins with `start`. */
export function createLeases<Work>(options: LeasesOptions<Work>): Leases {
  const { clock, timers, log, leaseMs, held, prolong, lose, fault } = options
  let beating: Promise<void> | undefined
  let cancelBeat = () => {}

  const end = () => isoTime(clock.now() + leaseMs)

  async function beat(): Promise<void> {
    const works = held()
    if (works.length === 0) return
    try {
      const isKept = await prolong(works, end())
      for (const work of works) if (!isKept(work)) lose(work)
    } catch (err) {
      // They may hold until the next heartbeat; if not, the work is claimed by others.
      log.warn({ err }, fault)
    }
  }

  function start(): void {
    cancelBeat = timers.after(leaseMs / 3, () => {
      beating = beat().then(start)
    })
  }

  return {
    end,
    start,
    async finish(timeLeft, ended, giveUp) {
      const cancelGiveUp = timers.after(timeLeft, giveUp)
      await ended
      cancelGiveUp()
      await beating
      cancelBeat()
    },
  }
}

/** Name of a process as an owner of leases, unlike that of any other. */
export function ownerName(ids: Pick<Ids, 'uuid'>): string {
  return `${hostname()}/${process.pid}/${ids.uuid()}`
}
