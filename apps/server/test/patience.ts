import { readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { vi } from 'vitest'

// The length of waits of tests. A wait must end soon, so that a failing test reports its
// fault within seconds; and it must not end while the machine is too busy to do the expected work, or
// tests fail by chance. No number of seconds achieves both: what takes one second alone takes ten
// beside other work. So a wait is measured in fair time: the time that it would have taken on a
// machine with nothing else to do. Of the time that passes,
//
// - only as much counts as a timer of this process was set for: while the timer is late, this process
//   is busy with its own work, or gets no processor;
// - of that, one n-th counts where n tasks compete for each processor. This process may be punctual,
//   because it sleeps most of the time, while the server or worker that it waits for has to queue.
//
// A wait lasts five seconds of fair time, and at most 100 seconds by the clock; a longer one at most six times as long.

/** Milliseconds of fair time that a wait lasts, unless the test asks for more. */
const usual = 5000
/** Milliseconds by the clock that a wait may take on a busy machine, and the factor by which a long one may take longer. */
const most = { time: 100_000, factor: 6 }
/** Milliseconds between two looks at the machine, and between two attempts by default. */
const step = 20

/** The measurements that a wait uses. */
export interface Machine {
  /** Milliseconds on a clock that is never set back or forward. */
  now(): number
  /** Tasks per processor that run or could run now; less than 1 if a processor is idle. */
  crowd(): number
}

const thisMachine: Machine = {
  now: () => performance.now(),
  crowd: () => Math.max(running(), loadavg()[0] ?? 0) / availableParallelism(),
}

/** Tasks that run or could run now; 0 where the system does not report it, so that the load average counts. */
function running(): number {
  try {
    return Number(/ (\d+)\//.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** The patience of one wait, which calls `isOver` again and again. */
export class Patience {
  readonly #limit: number
  readonly #machine: Machine
  readonly #begin: number
  #seen: number
  #fair = 0

  /** @param limit milliseconds of fair time, for waits that take longer than usual */
  constructor(limit = usual, machine: Machine = thisMachine) {
    this.#limit = Math.max(limit, usual)
    this.#machine = machine
    this.#begin = machine.now()
    this.#seen = this.#begin
  }

  /** @param planned milliseconds between this call and the one before, if the process is punctual */
  isOver(planned = step): boolean {
    const now = this.#machine.now()
    const elapsed = now - this.#seen
    if (elapsed >= step) {
      this.#seen = now
      this.#fair += Math.min(elapsed, Math.max(planned, step)) / Math.max(1, this.#machine.crowd())
    }
    const longest = Math.max(most.time, most.factor * this.#limit)
    return this.#fair >= this.#limit || now - this.#begin >= longest
  }
}

/** Milliseconds of fair time that a wait lasts at least, and those between two attempts. */
type Limit = number | { timeout?: number; interval?: number }

interface Wait<T> {
  attempt: () => T | Promise<T>
  /** Whether the wait ends with this result. */
  isEnd(result: T): boolean
  /** Whether the wait ends when an attempt fails. */
  endsByError: boolean
  limit?: Limit
  machine?: Machine
}

/** Calls `attempt` until it succeeds, and returns its result; in the end rejects with its last error. */
export function waitFor<T>(
  attempt: () => T | Promise<T>,
  limit?: Limit,
  machine?: Machine,
): Promise<T> {
  return repeat({ attempt, isEnd: () => true, endsByError: false, limit, machine })
}

/** Calls `attempt` until its result is truthy, and returns it; rejects with the first error of an attempt. */
export function waitUntil<T>(
  attempt: () => T | Promise<T>,
  limit?: Limit,
  machine?: Machine,
): Promise<T> {
  return repeat({ attempt, isEnd: (result) => Boolean(result), endsByError: true, limit, machine })
}

// The real timers: a test may replace those of the process while it waits.
const { setInterval, clearInterval } = globalThis

function repeat<T>({ attempt, isEnd, endsByError, limit, machine }: Wait<T>): Promise<T> {
  const { timeout, interval = step } =
    typeof limit === 'number' ? { timeout: limit } : (limit ?? {})
  const patience = new Patience(timeout, machine)
  let reason: unknown = new Error('It took too long')
  return new Promise((resolve, reject) => {
    let isTrying = false
    let isLast = false
    const timer = setInterval(look, interval)
    look()

    function look(): void {
      if (isLast) end(() => reject(reason))
      else {
        // Even a process that got no processor for long makes one more attempt.
        isLast = patience.isOver(interval)
        if (!isTrying) void makeAttempt()
      }
    }

    async function makeAttempt(): Promise<void> {
      isTrying = true
      try {
        const result = await attempt()
        if (isEnd(result)) end(() => resolve(result))
      } catch (error) {
        reason = error
        if (endsByError) end(() => reject(error))
      }
      isTrying = false
    }

    function end(settle: () => void): void {
      clearInterval(timer)
      settle()
    }
  })
}

/** Set by the first test file of the process: later ones share its `vi`. */
const patient = Symbol.for('botstead.patient')

if (!(patient in vi)) {
  Object.assign(vi, { [patient]: true })
  vi.waitFor = waitFor
  vi.waitUntil = waitUntil as typeof vi.waitUntil
}
