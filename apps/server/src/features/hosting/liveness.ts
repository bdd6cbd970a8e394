import type { Clock } from '../../platform/clock.js'
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
  /** Ends a program that did not respond. @param reason for the owner of the code */
  endStuck: (instance: Instance, reason: string) => void
}

/** Asks programs whether their event loop runs: in an endless loop it does not. */
export interface Liveness {
  /**
   * Ends a program that does not respond. Code that only takes long for something may finish that: meanwhile another
   * program gets the other requests.
   * @param times how many questions of two seconds it may leave open, unless it is being asked already. Time in which it waits
   * for a processor, as all programs do on a busy machine, or in which this server does not run, does not count: it is
   * asked up to four times as often
   */
  check(instance: Instance, times: number): Promise<void>
  /** Asks a program that has not responded to a request for a moment, or that has been idle for some time. */
  checkIfDue(instance: Instance): void
}

/** Milliseconds after which a program with an open request is asked. */
const lateMs = 2000
/** Milliseconds between two questions to a program without an open request, which a timer may have put into a loop. */
const idleQuestionMs = 10_000
/** Number of questions without a response after which a program is ended. */
const maxTimes = 4
/** Factor of more questions to a program that waits for a processor: it may be in an endless loop, too. */
const patience = 4
/** Milliseconds in which a program and this server could run, within which code responds that does nothing else. */
const fairMs = probeMs / 4
/** Number of questions by which a program is ended earlier: some time is lost in each question. */
const lostQuestions = 0.5
const stuck = 'it did not respond to anything, as code in an endless loop does'
/** The reason for a program that was asked the maximum number of times. */
const stuckOrStarved =
  'it did not respond to anything for long: it is in an endless loop, or had hardly any time of a processor, which this machine has too few of'

export function createLiveness(deps: LivenessDeps): Liveness {
  const { clock, watchDelay, isStopped, bypass, endStuck } = deps
  const open = new Map<Instance, Promise<void>>()
  /** Times of the last questions to programs that were idle. */
  const askedIdle = new WeakMap<Instance, number>()

  /** Asks a program once. @returns undefined if it responds, else for how many milliseconds it could have */
  async function ask(program: Program): Promise<number | undefined> {
    const endDelay = watchDelay()
    const startedAt = performance.now()
    const before = await program.processorTimes()
    const responds = await program.responds()
    const delayMs = endDelay()
    if (responds) return undefined
    const after = await program.processorTimes()
    const starvedMs = starvedMsBetween(before, after, performance.now() - startedAt)
    return Math.max(0, probeMs - starvedMs - delayMs)
  }

  async function untilEnd(instance: Instance, times: number): Promise<void> {
    const { program } = instance
    if (program === undefined) return
    // Only time in which the program could run counts, over all questions: others that use the processors up do not end it.
    const enoughMs = (times - lostQuestions) * probeMs
    let silentMs = 0
    for (let time = 0; time < times * patience && silentMs < enoughMs; time += 1) {
      const ms = await ask(program)
      if (ms === undefined || instance.hasEnded || isStopped()) return
      silentMs += ms
      // Before that, another program would wait for a processor as well. One without requests keeps its place until its end
      // is reported.
      if (silentMs >= fairMs && instance.claims > 0) bypass(instance)
    }
    bypass(instance)
    endStuck(instance, silentMs < enoughMs ? stuckOrStarved : stuck)
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
    checkIfDue(instance) {
      const { openSince, lastUsed } = instance
      const now = clock.now()
      if (openSince === undefined) {
        const since = Math.max(lastUsed, askedIdle.get(instance) ?? 0)
        if (now - since < idleQuestionMs) return
        askedIdle.set(instance, now)
      } else if (now - openSince < lateMs) return
      void check(instance, maxTimes)
    },
  }
}
