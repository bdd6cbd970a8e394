import { readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { vi } from 'vitest'

// How long a test waits for what it expects. A wait must end soon, so that a failing test says what
// is wrong within seconds of its cause; and it must not end while the machine is too busy to do what
// is waited for, or tests fail by chance. No number of seconds is both: what takes one second alone
// takes ten beside other work. So a wait is measured in fair time, the time that it would have taken
// on a machine with nothing else to do. Of the time that passes,
//
// - as much counts as a timer of this process was set for: what it is late by, this process was busy
//   with its own work, or got no processor;
// - of that, one part in n where n tasks want each processor. This process may be punctual, because
//   it sleeps most of the time, while a server or a worker that it waits for has to queue.
//
// A wait lasts five seconds of fair time, and six times as long at most, as time passes.

/** Milliseconds of fair time that a wait lasts, unless it says that it takes longer. */
const usual = 5000
/** How many times as long a wait may last on a busy machine. */
const most = 6
/** Milliseconds between two looks at the machine, and between two tries unless a wait says. */
const step = 20

/** What a wait measures. */
export interface Machine {
  /** Milliseconds that have passed, on a clock that is never set. */
  now(): number
  /** How many tasks want a processor now, for each that there is; less than 1 if some are idle. */
  crowd(): number
}

const thisMachine: Machine = {
  now: () => performance.now(),
  crowd: () => Math.max(running(), loadavg()[0] ?? 0) / availableParallelism(),
}

/** How many tasks run or want to; 0 where the system does not say, and the load must do. */
function running(): number {
  try {
    return Number(/ (\d+)\//.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** The patience of one wait. Whoever waits asks it again and again whether it is over. */
export class Patience {
  readonly #limit: number
  readonly #machine: Machine
  readonly #begin: number
  #seen: number
  #fair = 0

  /** @param limit milliseconds of fair time, for what takes longer than usual */
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
    return this.#fair >= this.#limit || now - this.#begin >= most * this.#limit
  }
}

/** Milliseconds of fair time that a wait lasts at least, and those between two tries. */
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

/** Calls `attempt` until it does not fail and returns its result; its last error, if it does not end. */
export function waitFor<T>(
  attempt: () => T | Promise<T>,
  limit?: Limit,
  machine?: Machine,
): Promise<T> {
  return repeat({ attempt, isEnd: () => true, endsByError: false, limit, machine })
}

/** Calls `attempt` until its result is true, and returns that; the first error of an attempt ends it. */
export function waitUntil<T>(
  attempt: () => T | Promise<T>,
  limit?: Limit,
  machine?: Machine,
): Promise<T> {
  return repeat({ attempt, isEnd: (result) => Boolean(result), endsByError: true, limit, machine })
}

// Those of the process: a test may replace the timers while it waits.
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

/** Set by the first file of the process: those after it share its `vi`. */
const patient = Symbol.for('botstead.patient')

if (!(patient in vi)) {
  Object.assign(vi, { [patient]: true })
  vi.waitFor = waitFor
  vi.waitUntil = waitUntil as typeof vi.waitUntil
}
