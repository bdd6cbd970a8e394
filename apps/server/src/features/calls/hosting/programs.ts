import { availableParallelism } from 'node:os'
import type { Clock, Timers } from '../../../platform/clock.js'
import { createFactCache } from '../../../platform/fact-cache.js'
import {
  OutgoingError,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../../../platform/outgoing/outgoing.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { createGate } from '../../../platform/workers/gate.js'
import type { CodeOwner, Deployment, HostedCode, Trial } from '../../bots/deployments/index.js'
import { crashOf, createFailures } from './failures.js'
import { createInstance, type Instance } from './instance.js'
import type { CodeIssue, OutputLine } from './output.js'
import { type Program, StartError } from './program.js'

/** What runs programs, and what they need. */
export interface ProgramsDeps {
  clock: Clock
  timers: Timers
  log: Log
  limits: {
    /** Programs at a time. */
    processes: number
    /** Requests of one program at a time. */
    requests: number
    /** Bytes of memory of one program in all. */
    memoryBytes: number
  }
  /** Milliseconds that a program without requests keeps running. */
  idleMs: number
  /** The deployment in force; undefined if there is none. */
  findHosted: (owner: CodeOwner) => Promise<HostedCode | undefined>
  /** Starts the stored code of a deployment. */
  start: (hosted: HostedCode) => Promise<Program>
  /** Writes a line of the server into the log of the owner. */
  writeLine: (deployment: Deployment, line: OutputLine) => void
  reportIssue: (deployment: Deployment, issue: CodeIssue) => void
}

/** The programs of one process of the server. */
export interface Programs {
  /** Sends a request to the code of an owner, which is started if it does not run. */
  send(owner: CodeOwner, request: OutgoingRequest): Promise<OutgoingResponse>
  /** A started program as a trial: it takes over when it is adopted. */
  toTrial(program: Program, hosted: HostedCode): Trial
  /** Waits for room for one more program. @returns to be called once, when it has ended */
  enter(): Promise<() => void>
  /** What is in force may have changed: the next request reads it anew. */
  forget(owner: CodeOwner): void
  /**
   * Reads what is in force now. Code that was replaced elsewhere gives way to the new one; code whose owner
   * is gone ends at once.
   */
  refresh(owner: CodeOwner): Promise<void>
  /** Refreshes all that run, or those of a workspace. */
  refreshAll(workspaceId?: string): Promise<void>
  /**
   * Keeps the code of these owners running without requests, and that of no others: starts what does not
   * run, one after the other, unless it failed a moment ago or there is no room.
   */
  keepAlive(owners: readonly CodeOwner[]): Promise<void>
  /** How many programs run. */
  count(): number
  /** How many requests they handle. */
  open(): number
  stop(timeLeft: number): Promise<void>
}

/** Milliseconds: a program that ran as long ended for another reason than those before. */
const healthyMs = 60_000
/** Milliseconds that a start waits for another program to make room. */
const roomPatienceMs = 10_000
/** Starts that wait for room at most. */
const mostWaiting = 1000
/** Milliseconds between two looks at the memory and the rest of programs. */
const watchMs = 2000
/** Requests in a row that time out before a program is replaced. */
const mostTimeouts = 3
/** Milliseconds that a replaced program has for its open requests: the most that one may take. */
const retireMs = 15 * 60 * 1000

/** Makes the programs of one process of the server: none at first. */
export function createPrograms(deps: ProgramsDeps): Programs {
  const { clock, timers, log, limits, idleMs, findHosted, start, writeLine, reportIssue } = deps
  /** The instance that serves each owner, by key. */
  const serving = new Map<string, Instance>()
  /** Those that end after their last requests. */
  const retiring = new Map<Instance, Promise<void>>()
  const failures = createFailures(clock)
  const starting = createGate(Math.max(2, availableParallelism()), mostWaiting, tooMany)
  const room = createGate(limits.processes, mostWaiting, tooMany)
  let kept: ReadonlySet<string> = new Set()
  let stopped = false
  let cancelWatch: (() => void) | undefined

  const inForce = createFactCache<HostedCode>({
    clock,
    maxFacts: 1000,
    read: (key) => findHosted(ownerOf(key)),
  })

  function tooMany(): Error {
    return new OutgoingError(
      'connection',
      `This server runs ${limits.processes} programs already (BOTSTEAD_HOSTING_PROCESSES), and all are busy.`,
    )
  }

  const isFull = () => room.load().running >= limits.processes

  /** Waits for room, which the program that rested longest may have to make. */
  async function enter(): Promise<() => void> {
    if (isFull()) endOneIdle()
    const patience = new AbortController()
    const cancel = timers.after(roomPatienceMs, () => patience.abort(tooMany()))
    try {
      return await room.enter(patience.signal)
    } finally {
      cancel()
    }
  }

  /** Programs that shall always run make room last: they are started again when there is some. */
  function endOneIdle(): void {
    const idle = [...serving].filter(([, { program, claims }]) => program && claims === 0)
    const [next] = idle.sort(
      ([a, { lastUsed: usedA }], [b, { lastUsed: usedB }]) =>
        Number(kept.has(a)) - Number(kept.has(b)) || usedA - usedB,
    )
    if (next) end(next[1])
  }

  function isServing(instance: Instance): boolean {
    return serving.get(keyOf(instance.hosted.owner)) === instance
  }

  /** Takes an instance out of service. @returns whether it was in service */
  function remove(instance: Instance): boolean {
    return isServing(instance) && serving.delete(keyOf(instance.hosted.owner))
  }

  /** Takes an instance out of service; it ends after the requests that were given to it. */
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

  function serve(hosted: HostedCode, started: Promise<Program>): Instance {
    const instance = createInstance(hosted, started, { clock, requests: limits.requests })
    serving.set(keyOf(hosted.owner), instance)
    started.then(
      (program) => void watchEnd(instance, program),
      () => remove(instance),
    )
    watch()
    return instance
  }

  /** Waits for the end of a program; one that nobody asked for is a failure of its code. */
  async function watchEnd(instance: Instance, program: Program): Promise<void> {
    const startedAt = clock.now()
    const how = await program.ended
    if (!remove(instance) || stopped) return
    if (clock.now() - startedAt >= healthyMs) failures.forget(instance.hosted.id)
    fail(instance.hosted, `it ended by itself with ${how}`)
  }

  function fail(hosted: HostedCode, reason: string): void {
    const pause = failures.add(hosted.id, reason) / 1000
    const again = kept.has(keyOf(hosted.owner))
      ? `It is started again in ${pause} s.`
      : `It is started again by the next request, in ${pause} s at the earliest.`
    log.warn({ owner: hosted.owner, deployment: hosted.id, reason }, 'deployed code stopped')
    writeLine(hosted, {
      level: 'error',
      message: `The code stopped: ${reason}. ${again}`,
      about: {},
    })
    reportIssue(hosted, crashOf(reason))
  }

  async function startInRoom(hosted: HostedCode): Promise<Program> {
    const leave = await enter()
    try {
      const ready = await starting.enter()
      try {
        const program = await start(hosted)
        void program.ended.finally(leave)
        return program
      } finally {
        ready()
      }
    } catch (error) {
      leave()
      if (!(error instanceof StartError)) throw error
      fail(hosted, error.message)
      throw new OutgoingError('connection', `The code does not start: ${error.message}`, {
        cause: error,
      })
    }
  }

  /**
   * Gives one more request to the instance of what is in force, which is started if it does not run. Nothing
   * is awaited between finding it and the claim: it might end in between.
   */
  async function claim(owner: CodeOwner): Promise<{ instance: Instance; release: () => void }> {
    const key = keyOf(owner)
    for (;;) {
      const current = serving.get(key)
      const known = inForce.get(key)
      const hosted = known instanceof Promise ? await known : known
      // Otherwise what was read may be older than what serves now.
      if (serving.get(key) !== current) continue
      if (hosted === undefined) {
        throw new OutgoingError('refused', `The ${owner.type} has no code that runs here.`)
      }
      const instance = current?.hosted.id === hosted.id ? current : replace(current, hosted)
      return { instance, release: instance.claim() }
    }
  }

  /** Starts code in place of what serves the owner now, which another process of the server replaced. */
  function replace(former: Instance | undefined, hosted: HostedCode): Instance {
    if (former) end(former)
    const pause = failures.pauseOf(hosted.id)
    if (pause !== undefined) throw pause
    return serve(hosted, startInRoom(hosted))
  }

  /** After a request that took too long: replaces a program that does not respond any more. */
  async function afterTimeout(instance: Instance, program: Program): Promise<void> {
    const isStuck = !(await program.responds())
    if (!isStuck && instance.timeouts < mostTimeouts) return
    if (!remove(instance)) return
    const reason = isStuck
      ? 'it did not respond to anything, as code in an endless loop does'
      : `${instance.timeouts} requests in a row took too long`
    fail(instance.hosted, reason)
    if (isStuck) program.kill()
    else end(instance)
  }

  /** Looks at programs as long as there are any. */
  function watch(): void {
    if (cancelWatch !== undefined || stopped) return
    cancelWatch = timers.after(watchMs, () => {
      cancelWatch = undefined
      void Promise.all([...serving.values()].map(look)).finally(() => {
        if (serving.size > 0) watch()
      })
    })
  }

  async function look(instance: Instance): Promise<void> {
    const { program, hosted } = instance
    const used = await program?.memoryBytes()
    if (program === undefined || !isServing(instance)) return
    if (used !== undefined && used > limits.memoryBytes) {
      remove(instance)
      program.kill()
      fail(hosted, `it used ${Math.round(used / 2 ** 20)} MiB of memory`)
    } else if (!kept.has(keyOf(hosted.owner)) && instance.claims === 0) {
      if (clock.now() - instance.lastUsed >= idleMs) end(instance)
    }
  }

  async function refresh(owner: CodeOwner): Promise<void> {
    const key = keyOf(owner)
    inForce.forget((known) => known === key)
    const instance = serving.get(key)
    if (instance === undefined) return
    const hosted = await inForce.get(key)
    if (hosted?.id === instance.hosted.id || !isServing(instance)) return
    if (hosted === undefined) {
      remove(instance)
      awaitEnd(instance, instance.abort())
      // It was in use: its next request need not wait for the start.
    } else replace(instance, hosted)
  }

  async function startKept(owner: CodeOwner): Promise<void> {
    if (serving.has(keyOf(owner)) || isFull()) return
    try {
      const { instance, release } = await claim(owner)
      await instance.started.finally(release)
    } catch (err) {
      // Also while it may not be started again; why it stopped is in its own log.
      log.debug({ err, owner }, 'code that is always alive does not run')
    }
  }

  return {
    async send(owner, request) {
      if (stopped) throw new OutgoingError('connection', 'The server is stopping.')
      const { instance, release } = await claim(owner)
      try {
        return await instance.send(request)
      } catch (error) {
        if (instance.program && error instanceof OutgoingError && error.failure === 'timeout') {
          void afterTimeout(instance, instance.program)
        }
        throw error
      } finally {
        release()
      }
    },

    toTrial(program, hosted) {
      return {
        adopt() {
          const key = keyOf(hosted.owner)
          inForce.forget((known) => known === key)
          const former = serving.get(key)
          serve(hosted, Promise.resolve(program))
          if (former) end(former)
        },
        abandon: () => void program.end(),
      }
    },

    enter,

    forget(owner) {
      const key = keyOf(owner)
      inForce.forget((known) => known === key)
    },

    refresh,

    async refreshAll(workspaceId) {
      const all = [...serving.values()].map(({ hosted }) => hosted)
      const some = all.filter(
        (hosted) => (workspaceId ?? hosted.workspaceId) === hosted.workspaceId,
      )
      await Promise.all(some.map(({ owner }) => refresh(owner)))
    },

    async keepAlive(owners) {
      kept = new Set(owners.map(keyOf))
      for (const owner of owners) if (!stopped) await startKept(owner)
    },

    count: () => serving.size + retiring.size,

    open: () => [...serving.values()].reduce((sum, { claims }) => sum + claims, 0),

    async stop(timeLeft) {
      stopped = true
      cancelWatch?.()
      const stopping = new OutgoingError('connection', 'The server is stopping.')
      starting.close(stopping)
      room.close(stopping)
      for (const instance of [...serving.values()]) end(instance)
      const ending = [...retiring]
      const timer = setTimeout(() => {
        for (const [instance] of ending) void instance.abort()
      }, timeLeft)
      await Promise.all(ending.map(([, over]) => over))
      clearTimeout(timer)
    },
  }
}

const separator = ':'

/** An owner as one text. */
export function keyOf({ type, id }: CodeOwner): string {
  return `${type}${separator}${id}`
}

/** The owner behind such a text. */
export function ownerOf(key: string): CodeOwner {
  const end = key.indexOf(separator)
  return { type: key.slice(0, end) === 'bot' ? 'bot' : 'integration', id: key.slice(end + 1) }
}
