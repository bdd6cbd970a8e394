import type { Clock } from '../../../platform/clock.js'
import {
  OutgoingError,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../../../platform/outgoing/outgoing.js'
import { createGate } from '../../../platform/workers/gate.js'
import type { HostedCode } from '../../bots/deployments/index.js'
import type { Program } from './program.js'

/** A program that serves its owner, or is about to, with the requests that were given to it. */
export interface Instance {
  readonly hosted: HostedCode
  /** Rejects if the program does not start. */
  readonly started: Promise<Program>
  /** Undefined until it has started. */
  readonly program: Program | undefined
  /** Requests that were given to it, also those that wait. */
  readonly claims: number
  /** Milliseconds of the clock when its last request ended, or when it was made. */
  readonly lastUsed: number
  /** Requests in a row that took too long. */
  readonly timeouts: number
  /** Gives it one more request: it does not rest before that ended. @returns to be called at its end */
  claim(): () => void
  /** Sends a request once its program has started and handles less than it may. */
  send(request: OutgoingRequest): Promise<OutgoingResponse>
  /**
   * Ends the program after the requests that were given to it.
   * @param withinMs milliseconds after which it ends with requests open
   */
  retire(withinMs: number): Promise<void>
  /** Ends it without waiting for its requests. */
  abort(): Promise<void>
}

/** Requests that wait for a program, as a multiple of those that it handles. */
const waitingPerRequest = 10

/** @param requests how many the program handles at a time */
export function createInstance(
  hosted: HostedCode,
  started: Promise<Program>,
  { clock, requests }: { clock: Clock; requests: number },
): Instance {
  const gate = createGate(requests, requests * waitingPerRequest, () => busy('as many wait as may'))
  let program: Program | undefined
  let claims = 0
  let lastUsed = clock.now()
  let timeouts = 0
  let stopWaiting = () => {}

  started.then(
    (ready) => {
      program = ready
    },
    () => {},
  )

  function busy(detail: string): OutgoingError {
    return new OutgoingError(
      'connection',
      `The code of the ${hosted.owner.type} handles ${requests} requests already (BOTSTEAD_HOSTING_REQUESTS), and ${detail}.`,
    )
  }

  /** Waits for its turn at most as long as the request may take. */
  async function enter({ signal, timeoutMs }: OutgoingRequest): Promise<() => void> {
    if (gate.load().running < requests) return await gate.enter(signal)
    const limit = new AbortController()
    const timer = setTimeout(() => {
      limit.abort(busy(`none ended within ${timeoutMs} ms`))
    }, timeoutMs)
    try {
      return await gate.enter(signal ? AbortSignal.any([signal, limit.signal]) : limit.signal)
    } finally {
      clearTimeout(timer)
    }
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

  return {
    hosted,
    started,
    get program() {
      return program
    },
    get claims() {
      return claims
    },
    get lastUsed() {
      return lastUsed
    },
    get timeouts() {
      return timeouts
    },

    claim() {
      claims += 1
      return () => {
        claims -= 1
        lastUsed = clock.now()
        if (claims === 0) stopWaiting()
      }
    },

    async send(request) {
      const leave = await enter(request)
      try {
        const response = await (await started).send(request)
        timeouts = 0
        return response
      } catch (error) {
        if (program && error instanceof OutgoingError && error.failure === 'timeout') timeouts += 1
        throw error
      } finally {
        leave()
      }
    },

    async retire(withinMs) {
      const running = await started.catch(() => undefined)
      if (running === undefined) return
      if (claims > 0) await untilUnclaimed(withinMs, running.ended)
      await running.end()
    },

    async abort() {
      stopWaiting()
      await (await started.catch(() => undefined))?.end()
    },
  }
}
