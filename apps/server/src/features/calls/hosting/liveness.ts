import type { Clock } from '../../../platform/clock.js'
import type { Instance } from './instance.js'
import { starvedMsBetween } from './process-tree.js'
import type { Program } from './program.js'
import { probeMs } from './program-client.js'

export interface LivenessDeps {
  clock: Clock
  /** Begins to measure for how many milliseconds the server itself does not run; the function that it returns ends that. */
  watchDelay: () => () => number
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
   * @param times how often it is asked, unless it is being asked already; up to four times as often if it waits for a
   * processor meanwhile, as all programs do on a busy machine, or if this server does not run
   */
  check(instance: Instance, times: number): Promise<void>
  /** Asks a program that has not responded to a request for a moment. */
  checkIfLate(instance: Instance): void
}

/** Milliseconds after which a program with an open request is asked. */
const lateMs = 2000
/** How often a program that does not respond is asked before it is ended. */
const mostTimes = 4
/** How many times as often a program is asked at most that waits for a processor: it may be in an endless loop, too. */
const patience = 4
/** Milliseconds of a question in which a program and this server must have been able to run, so that it counts. */
const fairMs = probeMs / 4

export function createLiveness(deps: LivenessDeps): Liveness {
  const { clock, watchDelay, isStopped, bypass, endStuck } = deps
  const open = new Map<Instance, Promise<void>>()

  /** Asks a program once. @returns undefined if it responds, else how much its silence counts: from 0 to 1 */
  async function ask(program: Program): Promise<number | undefined> {
    const endDelay = watchDelay()
    const startedAt = performance.now()
    const before = await program.processorTimes()
    const responds = await program.responds()
    const delayMs = endDelay()
    if (responds) return undefined
    const after = await program.processorTimes()
    const starvedMs = starvedMsBetween(before, after, performance.now() - startedAt)
    const ownMs = probeMs - starvedMs - delayMs
    return Math.min(1, Math.max(0, ownMs / fairMs))
  }

  async function untilEnd(instance: Instance, times: number): Promise<void> {
    const { program } = instance
    if (program === undefined) return
    let silent = 0
    for (let time = 0; time < times * patience; time += 1) {
      const silence = await ask(program)
      if (silence === undefined || instance.hasEnded || isStopped()) return
      silent += silence
      if (silent >= times) break
      // Before that, another program would wait for a processor as well.
      if (silent >= 1) bypass(instance)
    }
    bypass(instance)
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
