import type { Clock, Timers } from '../../platform/clock.js'
import type { Crashes } from './crashes.js'
import type { Instance } from './instance.js'
import type { Instances } from './instances.js'
import { createLiveness } from './liveness.js'
import { watchLoopDelay } from './loop-delay.js'
import { excessOf, watchMs } from './process-tree.js'

export interface SupervisionDeps {
  clock: Clock
  timers: Timers
  instances: Instances
  crashes: Crashes
  /** Maximum bytes of memory of one program in all. */
  memoryBytes: number
  /** Milliseconds after which an idle program ends, unless it is kept alive. */
  idleMs: number
  isKept: (instance: Instance) => boolean
}

/** Ends programs that do not respond, that use too much, or that have been idle for too long. */
export interface Supervision {
  /** Checks programs regularly as long as there are any. */
  watch(): void
  /** After a request that took too long: ends a program that does not respond any more. */
  afterTimeout(instance: Instance): Promise<void>
  stop(): void
}

/** Milliseconds after which an idle program for suspects ends. */
const aloneIdleMs = 10_000
/** Number of successive requests that time out, after which a program is replaced. */
const maxTimeouts = 3

export function createSupervision(deps: SupervisionDeps): Supervision {
  const { clock, timers, instances, crashes, memoryBytes, idleMs, isKept } = deps
  let isStopped = false
  let cancelWatch: (() => void) | undefined
  const liveness = createLiveness({
    clock,
    watchDelay: watchLoopDelay,
    isStopped: () => isStopped,
    bypass,
    endStuck,
  })

  /** Lets requests go on in another program. */
  function bypass(instance: Instance): void {
    if (instances.isServing(instance)) instances.end(instance)
    instance.turnAway()
  }

  function endStuck(instance: Instance, reason: string): void {
    crashes.ofInstance(instance, reason)
    instance.program?.kill()
  }

  function watch(): void {
    if (cancelWatch !== undefined || isStopped) return
    cancelWatch = timers.after(watchMs, () => {
      cancelWatch = undefined
      void Promise.all(instances.all().map(check)).finally(() => {
        if (instances.all().length > 0) watch()
      })
    })
  }

  async function check(instance: Instance): Promise<void> {
    liveness.checkIfDue(instance)
    const { program } = instance
    const excess = program && excessOf(await program.usage(), memoryBytes)
    if (program === undefined || instance.hasEnded) return
    if (excess !== undefined) {
      // One that was replaced finishes what it was given, and fails alone.
      if (instances.remove(instance)) crashes.ofInstance(instance, excess)
      else instance.blame(excess)
      program.kill()
    } else if (instances.isServing(instance) && !isKept(instance) && instance.claims === 0) {
      const limit = instance.isAlone ? Math.min(aloneIdleMs, idleMs) : idleMs
      if (clock.now() - instance.lastUsed >= limit) instances.end(instance)
    }
  }

  return {
    watch,
    async afterTimeout(instance) {
      await liveness.check(instance, 1)
      if (instance.timeouts < maxTimeouts || !instances.remove(instance)) return
      crashes.ofCode(instance.hosted, `${instance.timeouts} requests in a row took too long`)
      instances.end(instance)
    },
    stop() {
      isStopped = true
      cancelWatch?.()
    },
  }
}
