import type { Clock } from '../../../platform/clock.js'
import type { Instance } from './instance.js'

export interface LivenessDeps {
  clock: Clock
  isStopped: () => boolean
  /** Lets requests go on in another program. */
  bypass: (instance: Instance) => void
  /** Ends a program that is in an endless loop. */
  endStuck: (instance: Instance) => void
}

/** Asks programs whether their event loop runs: in an endless loop it does not. */
export interface Liveness {
  /**
   * Ends a program that does not respond. Code that only takes long for something may finish that: meanwhile another
   * program gets the other requests.
   * @param times how often it is asked, unless it is being asked already
   */
  check(instance: Instance, times: number): Promise<void>
  /** Asks a program that has not responded to a request for a moment. */
  checkIfLate(instance: Instance): void
}

/** Milliseconds after which a program with an open request is asked. */
const lateMs = 2000
/** Most questions to a program that does not respond, before it is ended. */
const mostTimes = 4

export function createLiveness(deps: LivenessDeps): Liveness {
  const { clock, isStopped, bypass, endStuck } = deps
  const open = new Map<Instance, Promise<void>>()

  async function untilEnd(instance: Instance, times: number): Promise<void> {
    const { program } = instance
    if (program === undefined) return
    for (let time = 0; time < times; time += 1) {
      if (await program.responds()) return
      if (instance.hasEnded || isStopped()) return
      bypass(instance)
    }
    endStuck(instance)
  }

  async function check(instance: Instance, times: number): Promise<void> {
    const known = open.get(instance)
    if (known) return await known
    const over = untilEnd(instance, times).finally(() => open.delete(instance))
    open.set(instance, over)
    await over
  }

  return {
    check,
    checkIfLate(instance) {
      const { openSince } = instance
      if (openSince === undefined || clock.now() - openSince < lateMs) return
      void check(instance, mostTimes)
    },
  }
}
