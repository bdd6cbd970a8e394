/** Numbers of running and waiting tasks. */
export interface Load {
  running: number
  waiting: number
}

/** Admits a bounded number at a time; a bounded number of others wait in order. */
export interface Gate {
  /**
   * Waits for a place.
   *
   * @returns a function that gives the place back; to be called once
   * @throws what `full` returns if the queue is full, the signal's reason, or the reason of `close`
   */
  enter(signal?: AbortSignal): Promise<() => void>
  load(): Load
  /** Refuses everyone who waits and who comes later. */
  close(reason: Error): void
}

interface Waiter {
  admit(): void
  refuse(reason: unknown): void
}

/**
 * @param places how many may be in at a time, at least 1
 * @param queueLength how many may wait
 * @param full makes the error for those beyond
 */
export function createGate(places: number, queueLength: number, full: () => Error): Gate {
  const waiting = new Set<Waiter>()
  let free = places
  let closed: Error | undefined

  const leave = () => {
    const [next] = waiting
    if (next === undefined) {
      free += 1
      return
    }
    waiting.delete(next)
    next.admit()
  }
  return {
    async enter(signal) {
      signal?.throwIfAborted()
      if (closed !== undefined) throw closed
      if (free > 0) {
        free -= 1
        return leave
      }
      if (waiting.size >= queueLength) throw full()
      await wait(waiting, signal)
      return leave
    },
    load: () => ({ running: places - free, waiting: waiting.size }),
    close(reason) {
      closed = reason
      for (const waiter of waiting) waiter.refuse(reason)
      waiting.clear()
    },
  }
}

function wait(waiting: Set<Waiter>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      waiting.delete(waiter)
      reject(signal?.reason)
    }
    const waiter: Waiter = {
      admit() {
        signal?.removeEventListener('abort', abort)
        resolve()
      },
      refuse(reason) {
        signal?.removeEventListener('abort', abort)
        reject(reason)
      },
    }
    waiting.add(waiter)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** A bound of the pool that a task ran into. */
export type WorkerLimit = 'time' | 'memory' | 'output' | 'queue'

/**
 * A task was stopped or refused because of a limit; the pool and its other tasks go on.
 * Only `queue` is not the fault of the task: it may succeed when the pool is less busy.
 */
export class WorkerLimitError extends Error {
  override readonly name = 'WorkerLimitError'
  readonly limit: WorkerLimit

  constructor(limit: WorkerLimit, message: string, options?: ErrorOptions) {
    super(message, options)
    this.limit = limit
  }
}
