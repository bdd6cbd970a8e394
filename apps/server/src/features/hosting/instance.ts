import type { Clock } from '../../platform/clock.js'
import {
  OutgoingError,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../../platform/outgoing/outgoing.js'
import { createGate, type Gate } from '../../platform/workers/gate.js'
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

/** A program that serves its owner, from before its start until its end, with the requests that it was given. */
export class Instance {
  readonly hosted: HostedCode
  /** Whether it gets one request at a time: those that are suspected of ending the code. */
  readonly isAlone: boolean
  /** Rejects if the program does not start. */
  readonly started: Promise<Program>
  readonly #deps: InstanceDeps
  readonly #gate: Gate
  #program: Program | undefined
  #startedAt = 0
  #claims = 0
  /** Claims of its whole life, and whether the first one was there before the program. */
  #given = 0
  #isMadeForFirst = false
  #lastUsed: number
  #timeouts = 0
  #hasResponded = false
  /** Open requests with the time at which each was sent, the oldest first. */
  readonly #open = new Set<{ since: number }>()
  #openAtEnd: number | undefined
  #blamed: string | undefined
  /** Whether the server ends the program for what its requests did. */
  #isEndedForBlame = false
  #isEndedByServer = false
  #stopWaiting = () => {}

  constructor(hosted: HostedCode, started: Promise<Program>, deps: InstanceDeps) {
    const { clock, requests } = deps
    this.hosted = hosted
    this.isAlone = deps.isAlone
    this.started = started
    this.#deps = deps
    this.#gate = createGate(requests, requests * waitingPerRequest, () =>
      this.#busy('its queue is full'),
    )
    this.#lastUsed = clock.now()
    started.then(
      (ready) => {
        this.#program = ready
        this.#startedAt = performance.now()
        void ready.ended.then(() => {
          this.#openAtEnd = this.#open.size
        })
      },
      () => {},
    )
  }

  /** Undefined until it has started. */
  get program(): Program | undefined {
    return this.#program
  }

  /** Requests that it was given and that have not ended, including those that wait. */
  get claims(): number {
    return this.#claims
  }

  /** Requests that the program got and has not responded to; after its end, those of that moment. */
  get open(): number {
    return this.#openAtEnd ?? this.#open.size
  }

  /** Time at which the oldest of them was sent, in milliseconds of the clock; undefined if there are none. */
  get openSince(): number | undefined {
    const [oldest] = this.#open
    return oldest?.since
  }

  /** Whether it responded to a request. */
  get hasResponded(): boolean {
    return this.#hasResponded
  }

  get hasEnded(): boolean {
    return this.#openAtEnd !== undefined
  }

  /** End of its last request, or its creation if it had none, in milliseconds of the clock. */
  get lastUsed(): number {
    return this.#lastUsed
  }

  /** Number of successive requests that took too long. */
  get timeouts(): number {
    return this.#timeouts
  }

  /** Gives it one more request, until whose end it is not idle. @returns a function to call when the request has ended */
  claim(): () => void {
    this.#claims += 1
    this.#given += 1
    if (this.#given === 1) this.#isMadeForFirst = this.#program === undefined
    return () => {
      this.#claims -= 1
      this.#lastUsed = this.#deps.clock.now()
      if (this.#claims === 0) this.#stopWaiting()
    }
  }

  /**
   * Sends a request when the program has started and has fewer requests open than it may have.
   * @throws CodeEndedError if the program ends meanwhile, TurnedAwayError if it does before
   */
  async send(request: OutgoingRequest): Promise<OutgoingResponse> {
    const { clock } = this.#deps
    const leave = await this.#enter(request)
    const own = { since: clock.now() }
    try {
      const running = await this.started
      if (this.#openAtEnd !== undefined) throw new TurnedAwayError()
      own.since = clock.now()
      this.#open.add(own)
      const response = await running.send(request).catch(async (error: unknown) => {
        if (isTimeout(error)) await this.#countTimeout()
        throw await this.#failureOf(error, running)
      })
      this.#timeouts = 0
      this.#hasResponded = true
      return response
    } finally {
      this.#open.delete(own)
      leave()
    }
  }

  /** Turns away the requests that wait for the program. */
  turnAway(): void {
    this.#gate.close(new TurnedAwayError())
  }

  /** Says why the program is about to be ended, for its open requests. */
  blame(reason: string): void {
    this.#blamed ??= reason
    if (this.#openAtEnd === undefined) this.#isEndedForBlame = true
  }

  /**
   * Ends the program after the requests that it was given.
   * @param withinMs milliseconds after which it ends although requests are open
   */
  async retire(withinMs: number): Promise<void> {
    const running = await this.started.catch(() => undefined)
    if (running === undefined) return
    if (this.#claims > 0) await this.#untilUnclaimed(withinMs, running.ended)
    this.#isEndedByServer = this.#openAtEnd === undefined && this.#blamed === undefined
    await running.end()
  }

  /** Ends it without waiting for its requests, also while it starts. */
  async abort(): Promise<void> {
    this.#isEndedByServer = true
    this.#stopWaiting()
    this.#deps.cancelStart()
    await (await this.started.catch(() => undefined))?.end()
  }

  /** Counts a request that took too long, for which the program may then be ended. */
  async #countTimeout(): Promise<void> {
    this.#timeouts += 1
    await this.#deps.onTimeout(this)
  }

  /** The error of a request without a response: the end of the program, if that is why. */
  async #failureOf(error: unknown, running: Program): Promise<unknown> {
    if (!(error instanceof OutgoingError)) return error
    if (isTimeout(error) && this.#blamed === undefined) return error
    const end = await endWithin(running, endMs)
    if (end === undefined || this.#isEndedByServer) return error
    // A timer of an earlier request could have ended the program, or one of the code while it had no request.
    const isOnly = this.#given === 1 && this.#isMadeForFirst
    const isFromOutside = end.isFromOutside && !this.#isEndedForBlame
    return new CodeEndedError(this.#blamed ?? `it ended with ${end.how}`, {
      isCertain: isOnly && !isFromOutside && !this.#deps.endsByItself(),
      livedMs: performance.now() - this.#startedAt,
      cause: error,
    })
  }

  #busy(detail: string): OutgoingError {
    return new OutgoingError(
      'connection',
      `The code of the ${this.hosted.owner.type} handles ${this.#deps.requests} requests already (BOTSTEAD_HOSTING_REQUESTS), and ${detail}.`,
    )
  }

  /** Waits until the program can take the request, at most as long as the request may take. */
  async #enter(request: OutgoingRequest): Promise<() => void> {
    if (this.#gate.load().running < this.#deps.requests) {
      return await this.#gate.enter(request.signal)
    }
    return await enterInTime(this.#gate, request, () =>
      this.#busy(`none ended within ${request.timeoutMs} ms`),
    )
  }

  async #untilUnclaimed(withinMs: number, ended: Promise<unknown>): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const served = new Promise<void>((resolve) => {
      this.#stopWaiting = resolve
      timer = setTimeout(resolve, withinMs).unref()
    })
    await Promise.race([served, ended])
    clearTimeout(timer)
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof OutgoingError && error.failure === 'timeout'
}
