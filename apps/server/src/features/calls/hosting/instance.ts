import type { Clock } from '../../../platform/clock.js'
import {
  OutgoingError,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../../../platform/outgoing/outgoing.js'
import { createGate } from '../../../platform/workers/gate.js'
import type { HostedCode } from '../../bots/deployments/index.js'
import type { Program } from './program.js'

/** A program that serves its owner, from before its start until its end, with the requests that it was given. */
export interface Instance {
  readonly hosted: HostedCode
  /** Rejects if the program does not start. */
  readonly started: Promise<Program>
  /** Undefined until it has started. */
  readonly program: Program | undefined
  /** Requests that it was given and that have not ended, including those that wait. */
  readonly claims: number
  /** When its last request ended, or when the instance was made without any, in milliseconds of the clock. */
  readonly lastUsed: number
  /** How many requests in a row took too long. */
  readonly timeouts: number
  /** Gives it one more request, until whose end it is not idle. @returns a function to call when the request has ended */
  claim(): () => void
  /** Sends a request when the program has started and has fewer requests open than it may have. */
  send(request: OutgoingRequest): Promise<OutgoingResponse>
  /**
   * Ends the program after the requests that it was given.
   * @param withinMs milliseconds after which it ends although requests are open
   */
  retire(withinMs: number): Promise<void>
  /** Ends it without waiting for its requests. */
  abort(): Promise<void>
}

/** Most requests that wait for a program, as a multiple of those that it handles at a time. */
const waitingPerRequest = 10

/** @param requests how many the program handles at a time */
export function createInstance(
  hosted: HostedCode,
  started: Promise<Program>,
  { clock, requests }: { clock: Clock; requests: number },
): Instance {
  const gate = createGate(requests, requests * waitingPerRequest, () => busy('its queue is full'))
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

  /** Waits until the program can take the request, at most as long as the request may take. */
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
