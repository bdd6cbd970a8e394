import type { DeliveryRow } from './store.js'

/** A delivery in flight; while a queue is sent, its deliveries one after the other. */
export interface Sending {
  row: DeliveryRow
  /** Key of its receiver. */
  readonly receiver: string
  abort: AbortController
  /** Whether the next delivery of its queue may be sent right after it. */
  chain: boolean
  /** Whether the receiver responded to the last call; undefined without a call. */
  responded: boolean | undefined
  /** Whether the call has ended, and its result is being stored. */
  isSettling: boolean
}

/** Limits of the deliveries that are sent at a time. */
export interface SendLimits {
  concurrency: number
  /** Of these, the ones to one receiver. */
  perReceiver: number
}

/** The deliveries in flight in this process, and the places for their calls. */
export interface InFlight {
  readonly entries: ReadonlySet<Sending>
  add(entry: Sending): void
  remove(entry: Sending): void
  /** Takes a place for a call: at once, or in turn when one is free. */
  takePlace(entry: Sending): Promise<void> | undefined
  freePlace(entry: Sending): void
  setSettling(entry: Sending, isSettling: boolean): void
  /**
   * Whether more suspected deliveries to a receiver are in flight than may be. One of them is sent at a time, and those
   * that wait for it must not occupy all places of the receiver.
   */
  hasTooManySuspects(receiver: string): boolean
  /** Whether something is in flight to a receiver. */
  has(receiver: string): boolean
  /** Number of deliveries that may still be claimed for all receivers together; may be negative. */
  room(): number
  /** Number of deliveries that may still be claimed for one receiver; may be negative. */
  roomAt(receiver: string): number
}

interface Load {
  entries: number
  settling: number
  /** Places that are taken. */
  calls: number
}

/**
 * Counts deliveries in flight. What is being settled leaves its place to others, so that calls go on while
 * results are stored, and more of them are stored together; but no more are settled than there are places.
 */
export function createInFlight({ concurrency, perReceiver }: SendLimits): InFlight {
  const entries = new Set<Sending>()
  const all: Load = { entries: 0, settling: 0, calls: 0 }
  const loads = new Map<string, Load>()
  /** Of one receiver: at most half of its places. */
  const maxSuspects = Math.max(1, Math.min(8, Math.floor(perReceiver / 2)))
  const waiting: { entry: Sending; begin: () => void }[] = []

  function change({ receiver }: Sending, count: keyof Load, by: 1 | -1): void {
    const load = loads.get(receiver) ?? { entries: 0, settling: 0, calls: 0 }
    load[count] += by
    all[count] += by
    if (load.entries > 0) loads.set(receiver, load)
    else loads.delete(receiver)
  }

  const roomIn = (limit: number, { entries: held, settling }: Load) =>
    limit - (held - settling) - Math.max(0, settling - limit)

  function isFree(receiver: string): boolean {
    return all.calls < concurrency && (loads.get(receiver)?.calls ?? 0) < perReceiver
  }

  return {
    entries,

    add(entry) {
      entries.add(entry)
      change(entry, 'entries', 1)
    },

    remove(entry) {
      entries.delete(entry)
      if (entry.isSettling) change(entry, 'settling', -1)
      change(entry, 'entries', -1)
    },

    takePlace(entry) {
      if (!isFree(entry.receiver)) {
        return new Promise((resolve) => {
          waiting.push({ entry, begin: resolve })
        })
      }
      change(entry, 'calls', 1)
      return undefined
    },

    freePlace(entry) {
      change(entry, 'calls', -1)
      const at = waiting.findIndex((next) => isFree(next.entry.receiver))
      const [next] = at < 0 ? [] : waiting.splice(at, 1)
      if (next === undefined) return
      change(next.entry, 'calls', 1)
      next.begin()
    },

    setSettling(entry, isSettling) {
      if (entry.isSettling === isSettling) return
      entry.isSettling = isSettling
      change(entry, 'settling', isSettling ? 1 : -1)
    },

    hasTooManySuspects(receiver) {
      let count = 0
      for (const entry of entries) {
        if (entry.receiver === receiver && entry.row.code_ends !== null) count += 1
      }
      return count > maxSuspects
    },

    has: (receiver) => loads.has(receiver),
    room: () => roomIn(concurrency, all),
    roomAt(receiver) {
      const load = loads.get(receiver)
      return load === undefined ? perReceiver : roomIn(perReceiver, load)
    },
  }
}
