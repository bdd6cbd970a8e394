import type { Clock } from '../../platform/clock.js'
import {
  OutgoingError,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../../platform/outgoing/outgoing.js'
import { createGate } from '../../platform/workers/gate.js'
import type { HostedCode } from '../bots/deployments/index.js'
import { endMs, endWithin, type Program } from './program.js'
import { enterInTime } from './turns.js'

/** The program ended while a request was open in it, and not because the server ended it. */
export class CodeEndedError extends OutgoingError {
  override name = 'CodeEndedError'
  /** Whether the request ended it: the program was started for it, and got no other. */
  readonly isCertain: boolean
  /** Milliseconds from the start of the program to its end. */
  readonly livedMs: number
  readonly reason: string

  constructor(
    reason: string,
    { isCertain, livedMs, cause }: { isCertain: boolean; livedMs: number; cause: unknown },
  ) {
    super('connection', `The code stopped: ${reason}.`, { cause })
    this.isCertain = isCertain
    this.livedMs = livedMs
    this.reason = reason
  }
}

/** The program did not get a request before its end: another one can have it. */
export class TurnedAwayError extends OutgoingError {
  override name = 'TurnedAwayError'

  constructor() {
    super('connection', 'The code stopped before it got the request.')
  }
}

/** A program that serves its owner, from before its start until its end, with the requests that it was given. */
export interface Instance {
  readonly hosted: HostedCode
  /** Whether it gets one request at a time: those that are suspected of ending the code. */
  readonly isAlone: boolean
  /** Rejects if the program does not start. */
  readonly started: Promise<Program>
  /** Undefined until it has started. */
  readonly program: Program | undefined
  /** Requests that it was given and that have not ended, including those that wait. */
  readonly claims: number
  /** Requests that the program got and has not responded to; after its end, those of that moment. */
  readonly open: number
  /** Time at which the oldest of them was sent, in milliseconds of the clock; undefined if there are none. */
  readonly openSince: number | undefined
  /** Whether it responded to a request. */
  readonly hasResponded: boolean
  readonly hasEnded: boolean
  /** End of its last request, or its creation if it had none, in milliseconds of the clock. */
  readonly lastUsed: number
  /** Number of successive requests that took too long. */
  readonly timeouts: number
  /** Gives it one more request, until whose end it is not idle. @returns a function to call when the request has ended */
  claim(): () => void
  /**
   * Sends a request when the program has started and has fewer requests open than it may have.
   * @throws CodeEndedError if the program ends meanwhile, TurnedAwayError if it does before
   */
  send(request: OutgoingRequest): Promise<OutgoingResponse>
  /** Turns away the requests that wait for the program. */
  turnAway(): void
  /** Says why the program is about to be ended, for its open requests. */
  blame(reason: string): void
  /**
   * Ends the program after the requests that it was given.
   * @param withinMs milliseconds after which it ends although requests are open
   */
  retire(withinMs: number): Promise<void>
  /** Ends it without waiting for its requests, also while it starts. */
  abort(): Promise<void>
}

/** Maximum number of requests that wait for a program, as a multiple of those that it handles at a time. */
const waitingPerRequest = 10

/** Whether an instance is one for suspected requests, which get it alone, or the one that serves all others. */
export type Place = Pick<Instance, 'isAlone'>

export interface InstanceDeps {
  clock: Clock
  /** Maximum number of requests that the program handles at a time. */
  requests: number
  isAlone: boolean
  /** Whether the code lately ended without a request, so that no request can be blamed for an end. */
  endsByItself: () => boolean
  /** Ends a program that has not started yet. */
  cancelStart: () => void
  /** Called when a request took too long; resolves when the program was ended for that, or may go on. */
  onTimeout: (instance: Instance) => Promise<void>
}

export function createInstance(
  hosted: HostedCode,
  started: Promise<Program>,
  { clock, requests, isAlone, endsByItself, cancelStart, onTimeout }: InstanceDeps,
): Instance {
  const gate = createGate(requests, requests * waitingPerRequest, () => busy('its queue is full'))
  let program: Program | undefined
  let startedAt = 0
  let claims = 0
  /** Claims of its whole life, and whether the first one was there before the program. */
  let given = 0
  let isMadeForFirst = false
  let lastUsed = clock.now()
  let timeouts = 0
  let hasResponded = false
  /** Open requests with the time at which each was sent, the oldest first. */
  const open = new Set<{ since: number }>()
  let openAtEnd: number | undefined
  let blamed: string | undefined
  /** Whether the server ends the program for what its requests did. */
  let isEndedForBlame = false
  let isEndedByServer = false
  let stopWaiting = () => {}

  started.then(
    (ready) => {
      program = ready
      startedAt = performance.now()
      void ready.ended.then(() => {
        openAtEnd = open.size
      })
    },
    () => {},
  )

  /** Counts a request that took too long, for which the program may then be ended. */
  async function countTimeout(): Promise<void> {
    timeouts += 1
    await onTimeout(instance)
  }

  /** The error of a request without a response: the end of the program, if that is why. */
  async function failureOf(error: unknown, running: Program): Promise<unknown> {
    if (!(error instanceof OutgoingError)) return error
    if (isTimeout(error) && blamed === undefined) return error
    const end = await endWithin(running, endMs)
    if (end === undefined || isEndedByServer) return error
    // A timer of an earlier request could have ended the program, or one of the code while it had no request.
    const isOnly = given === 1 && isMadeForFirst
    const isFromOutside = end.isFromOutside && !isEndedForBlame
    return new CodeEndedError(blamed ?? `it ended with ${end.how}`, {
      isCertain: isOnly && !isFromOutside && !endsByItself(),
      livedMs: performance.now() - startedAt,
      cause: error,
    })
  }

  function busy(detail: string): OutgoingError {
    return new OutgoingError(
      'connection',
      `The code of the ${hosted.owner.type} handles ${requests} requests already (BOTSTEAD_HOSTING_REQUESTS), and ${detail}.`,
    )
  }

  /** Waits until the program can take the request, at most as long as the request may take. */
  async function enter(request: OutgoingRequest): Promise<() => void> {
    if (gate.load().running < requests) return await gate.enter(request.signal)
    return await enterInTime(gate, request, () => busy(`none ended within ${request.timeoutMs} ms`))
  }

  async function untilUnclaimed(withinMs: number, ended: Promise<unknown>): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const served = new Promise<void>((resolve) => {
      stopWaiting = resolve
      timer = setTimeout(resolve, withinMs).unref()
    })
    await Promise.race([served, ended])
    clearTimeout(timer)
  }

  const instance: Instance = {
    hosted,
    isAlone,
    started,
    get program() {
      return program
    },
    get claims() {
      return claims
    },
    get open() {
      return openAtEnd ?? open.size
    },
    get openSince() {
      const [oldest] = open
      return oldest?.since
    },
    get hasResponded() {
      return hasResponded
    },
    get hasEnded() {
      return openAtEnd !== undefined
    },
    get lastUsed() {
      return lastUsed
    },
    get timeouts() {
      return timeouts
    },

    claim() {
      claims += 1
      given += 1
      if (given === 1) isMadeForFirst = program === undefined
      return () => {
        claims -= 1
        lastUsed = clock.now()
        if (claims === 0) stopWaiting()
      }
    },

    async send(request) {
      const leave = await enter(request)
      const own = { since: clock.now() }
      try {
        const running = await started
        if (openAtEnd !== undefined) throw new TurnedAwayError()
        own.since = clock.now()
        open.add(own)
        const response = await running.send(request).catch(async (error: unknown) => {
          if (isTimeout(error)) await countTimeout()
          throw await failureOf(error, running)
        })
        timeouts = 0
        hasResponded = true
        return response
      } finally {
        open.delete(own)
        leave()
      }
    },

    turnAway: () => gate.close(new TurnedAwayError()),

    blame(reason) {
      blamed ??= reason
      if (openAtEnd === undefined) isEndedForBlame = true
    },

    async retire(withinMs) {
      const running = await started.catch(() => undefined)
      if (running === undefined) return
      if (claims > 0) await untilUnclaimed(withinMs, running.ended)
      isEndedByServer = openAtEnd === undefined && blamed === undefined
      await running.end()
    },

    async abort() {
      isEndedByServer = true
      stopWaiting()
      cancelStart()
      await (await started.catch(() => undefined))?.end()
    },
  }
  return instance
}

function isTimeout(error: unknown): boolean {
  return error instanceof OutgoingError && error.failure === 'timeout'
}
