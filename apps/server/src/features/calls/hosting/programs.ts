import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock, Timers } from '../../../platform/clock.js'
import { createFactCache } from '../../../platform/fact-cache.js'
import {
  OutgoingError,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../../../platform/outgoing/outgoing.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { CodeOwner, Deployment, HostedCode, Trial } from '../../bots/deployments/index.js'
import { createBlame } from './blame.js'
import { createCapacity } from './capacity.js'
import { crashIssueOf, createFailures } from './failures.js'
import {
  CodeEndedError,
  createInstance,
  type Instance,
  type Place,
  TurnedAwayError,
} from './instance.js'
import { createLiveness } from './liveness.js'
import type { CodeIssue, OutputLine } from './output.js'
import { keyOf, ownerOf } from './owners.js'
import { excessOf, watchMs } from './process-tree.js'
import { type Program, StartError } from './program.js'
import { createTurns } from './turns.js'

export interface ProgramsDeps {
  clock: Clock
  timers: Timers
  log: Log
  limits: {
    /** Most programs at a time. */
    processes: number
    /** Most requests of one program at a time. */
    requests: number
    /** Most bytes of memory of one program in all. */
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

/** A request that may have ended the code before. It is sent to a program in which no other request is open. */
export interface Suspect {
  /** Identifies the request in all of its tries. */
  id: string
  /** Whether others may have had that program before. If not, it ends after the request. */
  isAfterOthers: boolean
  /**
   * Whether it is blamed for an end only if programs are known to live longer without it: it is given up after this
   * end.
   */
  needsProof: boolean
}

export interface SendOptions {
  suspect?: Suspect | undefined
}

/** The programs of one process of the server. */
export interface Programs {
  /** Sends a request to the code of an owner, which is started if it does not run. */
  send(owner: CodeOwner, request: OutgoingRequest, options?: SendOptions): Promise<OutgoingResponse>
  /** A started program as a trial: it takes over when it is adopted. */
  toTrial(program: Program, hosted: HostedCode): Trial
  /** Waits for room for one more program. @returns a function to call once, when the program has ended */
  enter(): Promise<() => void>
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
  /** How many programs run, including those that end after their last requests. */
  countPrograms(): number
  /** How many requests the programs in service handle, or have waiting. */
  countRequests(): number
  /** From now on the end of a program is no failure of its code: whatever stops the server may end programs too. */
  drain(): void
  /** Ends all programs. @param timeLeft milliseconds after which they end although requests are open */
  stop(timeLeft: number): Promise<void>
}

/** Milliseconds after which a running program is healthy: earlier failures do not lengthen its next pause. */
const healthyMs = 60_000
/** Milliseconds after which an idle program for suspects ends. */
const aloneIdleMs = 10_000
/** Most programs that may end before they get a request; then the request fails. */
const mostTurnedAway = 3
/** How many requests in a row may time out before a program is replaced. */
const mostTimeouts = 3
/** Milliseconds that a replaced program has for its open requests: the longest that a request may take. */
const retireMs = 15 * 60 * 1000

function stopping(): OutgoingError {
  return new OutgoingError('connection', 'The server is stopping.')
}

/** Waits until a program has ended, at most so long. @throws the reason of the signal */
async function untilEnded(
  ended: Program['ended'],
  withinMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const options = { ref: false, ...(signal && { signal }) }
  const waited = sleep(withinMs, undefined, options).catch(() => signal?.throwIfAborted())
  await Promise.race([ended, waited])
}

/** Makes the programs of one process of the server. None runs at first. */
export function createPrograms(deps: ProgramsDeps): Programs {
  const { clock, timers, log, limits, idleMs, findHosted, start, writeLine, reportIssue } = deps
  /** The instance that serves each owner, by key. */
  const serving = new Map<string, Instance>()
  /** Those for requests that are suspected of ending the code, likewise. */
  const alone = new Map<string, Instance>()
  /** Those that end after their last requests. */
  const retiring = new Map<Instance, Promise<void>>()
  const failures = createFailures(clock)
  const blame = createBlame(clock)
  const turns = createTurns()
  const liveness = createLiveness({ clock, isStopped: () => stopped, bypass, endStuck })
  const capacity = createCapacity({ timers, processes: limits.processes, endOneIdle, countEnding })
  let kept: ReadonlySet<string> = new Set()
  let draining = false
  let stopped = false
  let cancelWatch: (() => void) | undefined

  const read = (key: string) => findHosted(ownerOf(key))
  const inForce = createFactCache<HostedCode>({ clock, maxFacts: 1000, read })

  const inService = () => [...serving.values(), ...alone.values()]
  const placesFor = ({ isAlone }: Place) => (isAlone ? alone : serving)

  /** Ends programs that are kept alive last, because they are started again as soon as there is room. */
  function endOneIdle(): void {
    const [next] = inService()
      .filter(isIdle)
      .sort((a, b) => Number(isKept(a)) - Number(isKept(b)) || a.lastUsed - b.lastUsed)
    if (next) end(next)
  }

  function countEnding(): number {
    return [...retiring.keys()].filter(isIdle).length
  }

  function isKept({ isAlone, hosted }: Instance): boolean {
    return !isAlone && kept.has(keyOf(hosted.owner))
  }

  function isServing(instance: Instance): boolean {
    return placesFor(instance).get(keyOf(instance.hosted.owner)) === instance
  }

  /** Takes an instance out of service. @returns whether it was in service */
  function remove(instance: Instance): boolean {
    return isServing(instance) && placesFor(instance).delete(keyOf(instance.hosted.owner))
  }

  /** Takes an instance out of service; it ends after the requests that it was given. */
  function end(instance: Instance): void {
    remove(instance)
    awaitEnd(instance, instance.retire(retireMs))
  }

  function awaitEnd(instance: Instance, over: Promise<void>): void {
    retiring.set(
      instance,
      over.finally(() => retiring.delete(instance)),
    )
  }

  function serve(
    hosted: HostedCode,
    { isAlone }: Place,
    start: (signal: AbortSignal) => Promise<Program>,
  ): Instance {
    const cancelling = new AbortController()
    const started = start(cancelling.signal)
    const instance = createInstance(hosted, started, {
      clock,
      requests: isAlone ? 1 : limits.requests,
      isAlone,
      endsByItself: () => blame.endsByItself(hosted.id),
      cancelStart: () => cancelling.abort(endedEarly()),
      onTimeout: afterTimeout,
    })
    placesFor(instance).set(keyOf(hosted.owner), instance)
    started.then(
      (program) => {
        void watchEnd(instance, program)
        capacity.makeRoom()
      },
      () => remove(instance),
    )
    watch()
    return instance
  }

  /** Waits for the end of a program, which is a failure of its code if the program was still in service. */
  async function watchEnd(instance: Instance, program: Program): Promise<void> {
    const startedAt = clock.now()
    const { how } = await program.ended
    if (!remove(instance) || draining) return
    if (clock.now() - startedAt >= healthyMs) failures.forget(instance.hosted.id)
    if (instance.open === 0) blame.endedByItself(instance.hosted.id)
    failed(instance, `it ended with ${how}`)
  }

  /** After the end of a program that was in service, or before the server ends it. */
  function failed(instance: Instance, reason: string): void {
    const { hosted, isAlone, open, hasResponded } = instance
    instance.blame(reason)
    // Code that serves others is not broken: what it had open is sent alone from now on, and they need not wait.
    const mayGoOn = open > 0 && (isAlone || hasResponded)
    if (mayGoOn && !isAlone) failures.forget(hosted.id)
    fail(hosted, reason, mayGoOn ? 0 : failures.add(hosted.id, reason))
  }

  /** @param pauseMs milliseconds before the next start */
  function fail(hosted: HostedCode, reason: string, pauseMs: number): void {
    const pause = pauseMs / 1000
    const again = kept.has(keyOf(hosted.owner))
      ? `It is started again in ${pause} s.`
      : `It is started again by the next request${pause > 0 ? `, in ${pause} s at the earliest` : ''}.`
    log.warn({ owner: hosted.owner, deployment: hosted.id, reason }, 'deployed code stopped')
    writeLine(hosted, {
      level: 'error',
      message: `The code stopped: ${reason}. ${again}`,
      about: {},
    })
    reportIssue(hosted, crashIssueOf(reason))
  }

  async function startInTurn(hosted: HostedCode, signal: AbortSignal): Promise<Program> {
    const leave = await capacity.enter()
    try {
      const ready = await capacity.begin(hosted.workspaceId)
      try {
        signal.throwIfAborted()
        const program = await start(hosted, signal)
        void program.ended.finally(leave)
        return program
      } finally {
        ready()
      }
    } catch (error) {
      leave()
      signal.throwIfAborted()
      if (!(error instanceof StartError)) throw error
      fail(hosted, error.message, failures.add(hosted.id, error.message))
      throw new OutgoingError('connection', `The code does not start: ${error.message}`, {
        cause: error,
      })
    }
  }

  /**
   * Gives one more request to the instance of the deployment in force, which is started if it does not run.
   * Nothing is awaited between finding the instance and the claim, because it could end in between.
   */
  async function claim(
    owner: CodeOwner,
    place: Place,
  ): Promise<{ instance: Instance; release: () => void }> {
    const key = keyOf(owner)
    const places = placesFor(place)
    for (;;) {
      const current = places.get(key)
      const known = inForce.get(key)
      const hosted = known instanceof Promise ? await known : known
      // Another instance took over meanwhile: the deployment that was read may be older than that one.
      if (places.get(key) !== current) continue
      if (hosted === undefined) {
        throw new OutgoingError('refused', `The ${owner.type} has no code that runs here.`)
      }
      const instance = current?.hosted.id === hosted.id ? current : replace(current, hosted, place)
      const release = instance.claim()
      return {
        instance,
        release() {
          release()
          capacity.makeRoom()
        },
      }
    }
  }

  async function sendInPlace(
    owner: CodeOwner,
    request: OutgoingRequest,
    place: Place,
  ): Promise<OutgoingResponse> {
    for (let times = 1; ; times += 1) {
      if (stopped) throw stopping()
      const { instance, release } = await claim(owner, place)
      try {
        return await instance.send(request)
      } catch (error) {
        if (!(error instanceof TurnedAwayError) || times === mostTurnedAway) throw error
      } finally {
        release()
      }
    }
  }

  /** Sends a request as the only one of a program, after that has lived longer than one that ended with the request. */
  async function sendInOwn(
    owner: CodeOwner,
    request: OutgoingRequest,
    { id, needsProof }: Suspect,
  ): Promise<OutgoingResponse> {
    const former = alone.get(keyOf(owner))
    if (former) end(former)
    if (stopped) throw stopping()
    const waitMs = blame.waitOf(id)
    const { instance, release } = await claim(owner, { isAlone: true })
    try {
      const { ended } = await instance.started
      if (waitMs !== undefined) await untilEnded(ended, waitMs, request.signal)
      return await instance.send(request)
    } catch (error) {
      if (!(error instanceof CodeEndedError && error.isCertain)) throw error
      blame.endedWith(id, error.livedMs)
      if (!needsProof || waitMs !== undefined) throw error
      const { reason, livedMs, cause } = error
      throw new CodeEndedError(reason, { isCertain: false, livedMs, cause })
    } finally {
      release()
      if (isServing(instance)) end(instance)
    }
  }

  /** Starts code, in place of an instance whose deployment was replaced. */
  function replace(former: Instance | undefined, hosted: HostedCode, place: Place): Instance {
    if (former) end(former)
    failures.requireNoPause(hosted.id)
    return serve(hosted, place, (signal) => startInTurn(hosted, signal))
  }

  /** Lets requests go on in another program. */
  function bypass(instance: Instance): void {
    if (isServing(instance)) end(instance)
    instance.turnAway()
  }

  function endStuck(instance: Instance): void {
    failed(instance, 'it did not respond to anything, as code in an endless loop does')
    instance.program?.kill()
  }

  /** After a request that took too long: ends a program that does not respond any more. */
  async function afterTimeout(instance: Instance): Promise<void> {
    await liveness.check(instance, 1)
    if (instance.timeouts < mostTimeouts || !remove(instance)) return
    const reason = `${instance.timeouts} requests in a row took too long`
    fail(instance.hosted, reason, failures.add(instance.hosted.id, reason))
    end(instance)
  }

  /** Checks programs regularly as long as there are any. */
  function watch(): void {
    if (cancelWatch !== undefined || stopped) return
    cancelWatch = timers.after(watchMs, () => {
      cancelWatch = undefined
      void Promise.all([...inService(), ...retiring.keys()].map(check)).finally(() => {
        if (serving.size + alone.size + retiring.size > 0) watch()
      })
    })
  }

  /** Ends a program that does not respond, that uses too much, or that has been idle for too long. */
  async function check(instance: Instance): Promise<void> {
    liveness.checkIfLate(instance)
    const { program } = instance
    const excess = program && excessOf(await program.usage(), limits.memoryBytes)
    if (program === undefined || instance.hasEnded) return
    if (excess !== undefined) {
      // One that was replaced finishes what it was given, and fails alone.
      if (remove(instance)) failed(instance, excess)
      else instance.blame(excess)
      program.kill()
    } else if (isServing(instance) && !isKept(instance) && instance.claims === 0) {
      const limit = instance.isAlone ? Math.min(aloneIdleMs, idleMs) : idleMs
      if (clock.now() - instance.lastUsed >= limit) end(instance)
    }
  }

  async function refresh(owner: CodeOwner): Promise<void> {
    const key = keyOf(owner)
    inForce.forgetGroup(key)
    for (const instance of retiring.keys()) {
      if (keyOf(instance.hosted.owner) !== key) continue
      // Its open requests are for nobody any more.
      if ((await inForce.get(key)) === undefined) await instance.abort()
    }
    for (const instance of [serving.get(key), alone.get(key)]) {
      if (instance === undefined) continue
      const hosted = await inForce.get(key)
      if (!isServing(instance)) continue
      if (hosted?.isSuspended) end(instance)
      else if (hosted?.id === instance.hosted.id) continue
      else if (hosted === undefined) {
        remove(instance)
        awaitEnd(instance, instance.abort())
      } else if (instance.isAlone) end(instance)
      // Started now, so that the next request need not wait for it.
      else replace(instance, hosted, { isAlone: false })
    }
  }

  async function startKept(owner: CodeOwner): Promise<void> {
    if (serving.has(keyOf(owner)) || capacity.isFull()) return
    try {
      const { instance, release } = await claim(owner, { isAlone: false })
      await instance.started.finally(release)
    } catch (err) {
      // Also thrown during the pause after a failure; the log of the bot has the reason of the failure.
      log.debug({ err, owner }, 'code that is always alive does not run')
    }
  }

  return {
    async send(owner, request, { suspect } = {}) {
      if (suspect === undefined) return await sendInPlace(owner, request, { isAlone: false })
      const endTurn = await turns.take(keyOf(owner), request)
      try {
        if (suspect.isAfterOthers) return await sendInPlace(owner, request, { isAlone: true })
        return await sendInOwn(owner, request, suspect)
      } finally {
        endTurn()
      }
    },

    toTrial(program, hosted) {
      return {
        adopt() {
          const key = keyOf(hosted.owner)
          inForce.forgetGroup(key)
          const former = serving.get(key)
          serve(hosted, { isAlone: false }, async () => program)
          if (former) end(former)
        },
        abandon: () => void program.end(),
      }
    },

    enter: capacity.enter,

    forget(owner) {
      const key = keyOf(owner)
      inForce.forgetGroup(key)
    },

    refresh,

    async refreshAll(workspaceId) {
      const all = [...inService(), ...retiring.keys()].map(({ hosted }) => hosted)
      const some = all.filter(
        (hosted) => (workspaceId ?? hosted.workspaceId) === hosted.workspaceId,
      )
      await Promise.all(some.map(({ owner }) => refresh(owner)))
    },

    async keepAlive(owners) {
      kept = new Set(owners.map(keyOf))
      for (const owner of owners) if (!stopped) await startKept(owner)
    },

    countPrograms: () => inService().length + retiring.size,

    countRequests: () => inService().reduce((sum, { claims }) => sum + claims, 0),

    drain() {
      draining = true
    },

    async stop(timeLeft) {
      draining = true
      stopped = true
      cancelWatch?.()
      capacity.close(stopping())
      for (const instance of inService()) end(instance)
      const ending = [...retiring]
      const timer = setTimeout(() => {
        for (const [instance] of ending) void instance.abort()
      }, timeLeft)
      await Promise.all(ending.map(([, over]) => over))
      clearTimeout(timer)
    },
  }
}

/** Whether it runs without a request. */
function isIdle({ program, claims }: Instance): boolean {
  return program !== undefined && claims === 0
}

function endedEarly(): OutgoingError {
  return new OutgoingError('connection', 'The code was ended before it had started.')
}
