import { availableParallelism } from 'node:os'
import { ApiError } from '@botstead/contract'
import type { Clock, Timers } from '../../../platform/clock.js'
import { createFactCache } from '../../../platform/fact-cache.js'
import {
  OutgoingError,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../../../platform/outgoing/outgoing.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { createGate, type Gate } from '../../../platform/workers/gate.js'
import type { CodeOwner, Deployment, HostedCode, Trial } from '../../bots/deployments/index.js'
import { crashOf, createFailures } from './failures.js'
import type { CodeIssue, OutputLine } from './output.js'
import { createPlaces } from './places.js'
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
  /** Waits for a place for one more program. @returns a function that gives it back */
  enter(): Promise<() => void>
  /** The deployment of an owner may have changed. */
  forget(owner: CodeOwner): void
  /** Starts code that shall always run. */
  keepAlive(hosted: HostedCode): Promise<void>
  /** How many programs run. */
  count(): number
  /** How many requests they handle. */
  open(): number
  stop(timeLeft: number): Promise<void>
}

/** A program that serves its owner, or is about to. */
interface Slot {
  readonly hosted: HostedCode
  readonly started: Promise<Program>
  program: Program | undefined
  readonly gate: Gate
  /** Requests that were given to it, also those that wait. */
  claims: number
  /** Called when the last of them is over. */
  onUnclaimed: (() => void) | undefined
  lastUsed: number
  /** Requests in a row that took too long. */
  timeouts: number
}

/** Milliseconds: a program that ran as long ended for another reason than those before. */
const healthyMs = 60_000
/** Requests that wait for a program, as a multiple of those that it handles. */
const waitingPerRequest = 10
/** Milliseconds that a start waits for another program to make place. */
const placePatienceMs = 10_000
/** Milliseconds between two looks at the memory and the rest of programs. */
const watchMs = 2000
/** Requests in a row that time out before a program is replaced. */
const mostTimeouts = 3
/** Milliseconds that a replaced program has for its open requests: the most that one may take. */
const retireMs = 15 * 60 * 1000

/** Makes the programs of one process of the server: none at first. */
export function createPrograms(deps: ProgramsDeps): Programs {
  const { clock, timers, log, limits, idleMs, findHosted, start, writeLine, reportIssue } = deps
  const slots = new Map<string, Slot>()
  const failures = createFailures(clock)
  /** Programs that end after their last requests. */
  const retiring = new Set<Promise<void>>()
  const starting = createGate(Math.max(2, availableParallelism()), 1000, tooMany)
  const places = createPlaces(limits.processes, placePatienceMs, tooMany)
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

  /** Takes a place, for which the program that rested longest may have to end. */
  async function takePlace(): Promise<() => void> {
    if (places.left() === 0) endOneIdle()
    return await places.take()
  }

  function endOneIdle(): void {
    let longest: Slot | undefined
    for (const slot of slots.values()) {
      if (slot.program === undefined || slot.claims > 0) continue
      if (longest === undefined || slot.lastUsed < longest.lastUsed) longest = slot
    }
    if (longest) end(longest)
  }

  /** Takes a program out of service; it ends after the requests that were given to it. */
  function end(slot: Slot): void {
    const key = keyOf(slot.hosted.owner)
    if (slots.get(key) === slot) slots.delete(key)
    const over = retire(slot, retireMs).finally(() => retiring.delete(over))
    retiring.add(over)
  }

  async function retire(slot: Slot, withinMs: number): Promise<void> {
    const program = await slot.started.catch(() => undefined)
    if (program === undefined) return
    if (slot.claims > 0) {
      let limit: NodeJS.Timeout | undefined
      const served = new Promise<void>((resolve) => {
        slot.onUnclaimed = resolve
        limit = setTimeout(resolve, withinMs).unref()
      })
      await Promise.race([served, program.ended])
      clearTimeout(limit)
    }
    await program.end()
  }

  function toSlot(hosted: HostedCode, started: Promise<Program>): Slot {
    const slot: Slot = {
      hosted,
      started,
      program: undefined,
      gate: createGate(limits.requests, limits.requests * waitingPerRequest, () => busy(hosted)),
      claims: 0,
      onUnclaimed: undefined,
      lastUsed: clock.now(),
      timeouts: 0,
    }
    slots.set(keyOf(hosted.owner), slot)
    started.then(
      (program) => {
        slot.program = program
        void watchEnd(slot, program)
      },
      () => {
        if (slots.get(keyOf(hosted.owner)) === slot) slots.delete(keyOf(hosted.owner))
      },
    )
    watch()
    return slot
  }

  function busy({ owner }: HostedCode): Error {
    return new OutgoingError(
      'connection',
      `The code of the ${owner.type} handles ${limits.requests} requests already (BOTSTEAD_HOSTING_REQUESTS), and as many wait as may.`,
    )
  }

  /** Waits for the end of a program; one that nobody asked for is a failure of its code. */
  async function watchEnd(slot: Slot, program: Program): Promise<void> {
    const startedAt = clock.now()
    const how = await program.ended
    const key = keyOf(slot.hosted.owner)
    if (slots.get(key) !== slot) return
    slots.delete(key)
    if (stopped) return
    if (clock.now() - startedAt >= healthyMs) failures.forget(key)
    fail(slot.hosted, `it ended by itself with ${how}`)
  }

  function fail(hosted: HostedCode, reason: string): void {
    const pause = failures.add(keyOf(hosted.owner), reason)
    const message = `The code stopped: ${reason}. It is started again by the next request, in ${pause / 1000} s at the earliest.`
    log.warn({ owner: hosted.owner, deployment: hosted.id, reason }, 'deployed code stopped')
    writeLine(hosted, { level: 'error', message, about: {} })
    reportIssue(hosted, crashOf(reason))
  }

  function begin(hosted: HostedCode): Slot {
    const key = keyOf(hosted.owner)
    failures.check(key)
    return toSlot(hosted, startInPlace(hosted))
  }

  async function startInPlace(hosted: HostedCode): Promise<Program> {
    const leave = await takePlace()
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
   * The program of an owner, with one more request given to it: from here on it does not end before that
   * request.
   */
  async function claim(owner: CodeOwner): Promise<Slot> {
    const key = keyOf(owner)
    const hosted = await inForce.get(key)
    if (hosted === undefined) {
      throw new OutgoingError('refused', `The ${owner.type} has no code that runs here.`)
    }
    let slot = slots.get(key)
    if (slot !== undefined && slot.hosted.id !== hosted.id) {
      // Another process of the server deployed other code.
      end(slot)
      slot = undefined
    }
    slot ??= begin(hosted)
    slot.claims += 1
    return slot
  }

  function unclaim(slot: Slot): void {
    slot.claims -= 1
    slot.lastUsed = clock.now()
    if (slot.claims === 0) slot.onUnclaimed?.()
  }

  /** After a request that took too long: replaces a program that does not respond any more. */
  async function afterTimeout(slot: Slot, program: Program): Promise<void> {
    slot.timeouts += 1
    const isStuck = !(await program.responds())
    if (!isStuck && slot.timeouts < mostTimeouts) return
    if (slots.get(keyOf(slot.hosted.owner)) !== slot) return
    const reason = isStuck
      ? 'it did not respond to anything, as code in an endless loop does'
      : `${slot.timeouts} requests in a row took too long`
    slots.delete(keyOf(slot.hosted.owner))
    fail(slot.hosted, reason)
    if (isStuck) program.kill()
    else end(slot)
  }

  /** Looks at programs as long as there are any. */
  function watch(): void {
    if (cancelWatch !== undefined || stopped) return
    cancelWatch = timers.after(watchMs, () => {
      cancelWatch = undefined
      void look().finally(() => {
        if (slots.size > 0) watch()
      })
    })
  }

  async function look(): Promise<void> {
    for (const slot of [...slots.values()]) {
      const { program, hosted } = slot
      if (program === undefined) continue
      const used = await program.memoryBytes()
      if (
        used !== undefined &&
        used > limits.memoryBytes &&
        slots.get(keyOf(hosted.owner)) === slot
      ) {
        slots.delete(keyOf(hosted.owner))
        program.kill()
        fail(hosted, `it used ${Math.round(used / 2 ** 20)} MiB of memory`)
      } else if (
        !hosted.alwaysAlive &&
        slot.claims === 0 &&
        clock.now() - slot.lastUsed >= idleMs
      ) {
        end(slot)
      }
    }
  }

  return {
    async send(owner, request) {
      if (stopped) throw new OutgoingError('connection', 'The server is stopping.')
      const slot = await claim(owner)
      let leave: (() => void) | undefined
      try {
        leave = await slot.gate.enter(request.signal)
        const program = await slot.started
        const response = await program.send(request)
        slot.timeouts = 0
        return response
      } catch (error) {
        if (error instanceof OutgoingError && error.failure === 'timeout' && slot.program) {
          void afterTimeout(slot, slot.program)
        }
        throw error
      } finally {
        leave?.()
        unclaim(slot)
      }
    },

    toTrial(program, hosted) {
      return {
        adopt() {
          const key = keyOf(hosted.owner)
          inForce.forget((known) => known === key)
          failures.forget(key)
          const former = slots.get(key)
          toSlot(hosted, Promise.resolve(program)).program = program
          if (former) end(former)
        },
        abandon: () => void program.end(),
      }
    },

    enter: takePlace,

    forget(owner) {
      const key = keyOf(owner)
      inForce.forget((known) => known === key)
    },

    async keepAlive(hosted) {
      if (!slots.has(keyOf(hosted.owner))) await begin(hosted).started
    },

    count: () => slots.size + retiring.size,

    open: () => [...slots.values()].reduce((sum, { claims }) => sum + claims, 0),

    async stop(timeLeft) {
      stopped = true
      cancelWatch?.()
      starting.close(new OutgoingError('connection', 'The server is stopping.'))
      const ending = [...slots.values()].map((slot) => retire(slot, timeLeft))
      slots.clear()
      await Promise.all([...ending, ...retiring])
    },
  }
}

/** The refusal of a deployment, with the reason. */
export function refusal(reason: string): ApiError {
  return new ApiError('Runtime', `body.code was not deployed, and what ran before stays: ${reason}`)
}

const separator = ':'

function keyOf({ type, id }: CodeOwner): string {
  return `${type}${separator}${id}`
}

function ownerOf(key: string): CodeOwner {
  const end = key.indexOf(separator)
  return { type: key.slice(0, end) === 'bot' ? 'bot' : 'integration', id: key.slice(end + 1) }
}
