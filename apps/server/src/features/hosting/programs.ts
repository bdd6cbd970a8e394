import type { Clock, Timers } from '../../platform/clock.js'
import { createFactCache } from '../../platform/fact-cache.js'
import type { Log } from '../../platform/telemetry/log.js'
import type { CodeOwner, Deployment, HostedCode, Trial } from '../bots/deployments/index.js'
import { createBlame } from './blame.js'
import { createCapacity, type Room } from './capacity.js'
import { createCrashes } from './crashes.js'
import { createFailures } from './failures.js'
import type { Instance } from './instance.js'
import { createInstances } from './instances.js'
import type { CodeIssue, OutputLine } from './output.js'
import { keyOf, ownerOf } from './owners.js'
import type { Program } from './program.js'
import { createSend, type Send, stopping } from './sending.js'
import { createServing } from './serving.js'
import { createSupervision } from './supervision.js'

export interface ProgramsDeps {
  clock: Clock
  timers: Timers
  log: Log
  limits: {
    /** Maximum number of programs at a time. */
    processes: number
    /** Maximum number of requests of one program at a time. */
    requests: number
    /** Maximum bytes of memory of one program in all. */
    memoryBytes: number
  }
  /** Milliseconds after which an idle program ends, unless it is kept alive. */
  idleMs: number
  /** The deployment in force; undefined if there is none. */
  findHosted: (owner: CodeOwner) => Promise<HostedCode | undefined>
  /** Starts the stored code of a deployment; an abort of the signal ends it while it starts. */
  start: (hosted: HostedCode, signal: AbortSignal) => Promise<Program>
  /** Writes a line of the server into the log of the owner. */
  writeLine: (deployment: Deployment, line: OutputLine) => void
  reportIssue: (deployment: Deployment, issue: CodeIssue) => void
}

/** The programs of one process of the server. */
export interface Programs {
  /** Sends a request to the code of an owner, which is started if it does not run. */
  send: Send
  /** A started program as a trial: it takes over when it is adopted. */
  toTrial(program: Program, hosted: HostedCode): Trial
  /** Waits for room for one more program of a workspace. */
  enter(workspaceId: string): Promise<Room>
  /** Forgets the deployment in force, which may have changed: the next request reads it again. */
  forget(owner: CodeOwner): void
  /**
   * Reads the deployment in force of an owner whose code runs. A program that was replaced in another process
   * is replaced here too; all programs of a deleted owner end at once, also those that end after their last requests.
   */
  refresh(owner: CodeOwner): Promise<void>
  /** Refreshes all owners whose code runs, or those of a workspace. */
  refreshAll(workspaceId?: string): Promise<void>
  /**
   * Keeps the code of exactly these owners running without requests: starts what does not run, one after the
   * other, unless it failed a moment ago or there is no room.
   */
  keepAlive(owners: readonly CodeOwner[]): Promise<void>
  /** Counts running programs, including those that end after their last requests. */
  countPrograms(): number
  /** Counts requests that the programs in service handle, or have waiting. */
  countRequests(): number
  /** From now on the end of a program is no failure of its code: whatever stops the server may end programs too. */
  drain(): void
  /** Ends all programs. @param timeLeft milliseconds after which they end although requests are open */
  stop(timeLeft: number): Promise<void>
}

/** Makes the programs of one process of the server. None runs at first. */
export function createPrograms(deps: ProgramsDeps): Programs {
  const { clock, timers, log, limits, idleMs, findHosted, start, writeLine, reportIssue } = deps
  const instances = createInstances()
  const failures = createFailures(clock)
  const blame = createBlame(clock)
  /** The keys of the owners whose code is kept alive. */
  let kept: ReadonlySet<string> = new Set()
  let draining = false
  let stopped = false

  const isKept = (owner: CodeOwner) => kept.has(keyOf(owner))
  const isKeptInstance = ({ isAlone, hosted }: Instance) => !isAlone && isKept(hosted.owner)

  const read = (key: string) => findHosted(ownerOf(key))
  const inForce = createFactCache<HostedCode>({ clock, maxFacts: 1000, read })
  const crashes = createCrashes({ log, failures, isKept, writeLine, reportIssue })
  const supervision = createSupervision({
    clock,
    timers,
    instances,
    crashes,
    memoryBytes: limits.memoryBytes,
    idleMs,
    isKept: isKeptInstance,
  })
  const capacity = createCapacity({
    timers,
    processes: limits.processes,
    endOneIdle,
    countEnding: () => [...instances.ending()].filter(isIdle).length,
  })
  const serving = createServing({
    clock,
    requests: limits.requests,
    inForce,
    start,
    instances,
    capacity,
    failures,
    blame,
    crashes,
    supervision,
    isDraining: () => draining,
  })

  /** Ends programs that are kept alive last, because they are started again as soon as there is room. */
  function endOneIdle(): void {
    const [next] = instances
      .inService()
      .filter(isIdle)
      .sort(
        (a, b) => Number(isKeptInstance(a)) - Number(isKeptInstance(b)) || a.lastUsed - b.lastUsed,
      )
    if (next) instances.end(next)
  }

  async function refresh(owner: CodeOwner): Promise<void> {
    const key = keyOf(owner)
    inForce.forgetGroup(key)
    for (const instance of instances.ending()) {
      if (keyOf(instance.hosted.owner) !== key) continue
      // Its open requests are for nobody any more.
      if ((await inForce.get(key)) === undefined) await instance.abort()
    }
    for (const instance of [false, true].map((isAlone) => instances.find(owner, { isAlone }))) {
      if (instance === undefined) continue
      const hosted = await inForce.get(key)
      if (!instances.isServing(instance)) continue
      if (hosted?.isSuspended) instances.end(instance)
      else if (hosted?.id === instance.hosted.id) continue
      else if (hosted === undefined) instances.abort(instance)
      else if (instance.isAlone) instances.end(instance)
      // Started now, so that the next request need not wait for it.
      else serving.replace(instance, hosted, { isAlone: false })
    }
  }

  async function startKept(owner: CodeOwner): Promise<void> {
    const place = { isAlone: false }
    if (instances.find(owner, place) || capacity.isFull()) return
    try {
      const { instance, release } = await serving.claim(owner, place)
      await instance.started.finally(release)
    } catch (err) {
      // Also thrown during the pause after a failure; the log of the bot has the reason of the failure.
      log.debug({ err, owner }, 'code that is always alive does not run')
    }
  }

  return {
    send: createSend({ instances, serving, blame, isStopped: () => stopped }),

    toTrial(program, hosted) {
      return {
        adopt() {
          inForce.forgetGroup(keyOf(hosted.owner))
          serving.adopt(hosted, program)
        },
        abandon: () => void program.end(),
      }
    },

    enter: capacity.enter,

    forget: (owner) => inForce.forgetGroup(keyOf(owner)),

    refresh,

    async refreshAll(workspaceId) {
      const some = instances
        .all()
        .map(({ hosted }) => hosted)
        .filter((hosted) => (workspaceId ?? hosted.workspaceId) === hosted.workspaceId)
      await Promise.all(some.map(({ owner }) => refresh(owner)))
    },

    async keepAlive(owners) {
      kept = new Set(owners.map(keyOf))
      for (const owner of owners) if (!stopped) await startKept(owner)
    },

    countPrograms: () => instances.all().length,

    countRequests: () => instances.inService().reduce((sum, { claims }) => sum + claims, 0),

    drain() {
      draining = true
    },

    async stop(timeLeft) {
      draining = true
      stopped = true
      supervision.stop()
      capacity.close(stopping())
      for (const instance of instances.inService()) instances.end(instance)
      const ending = [...instances.ending()]
      const timer = setTimeout(() => {
        for (const instance of ending) void instance.abort()
      }, timeLeft)
      await instances.ended()
      clearTimeout(timer)
    },
  }
}

/** Whether it runs without a request. */
function isIdle({ program, claims }: Instance): boolean {
  return program !== undefined && claims === 0
}
