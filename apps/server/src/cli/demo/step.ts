import { performance } from 'node:perf_hooks'
import { type ClientOptions, isErrorType } from '@botstead/contract'
import { messageForPeople } from '@botstead/contract/error-text'
import { isConnectionFailure } from '../connection.js'
import type { Call, Explained, Facts, Printer } from './print.js'

/** Sends requests and records the calls. */
export interface CallLog {
  fetch: NonNullable<ClientOptions['fetch']>
  /** Returns the calls since the last time, oldest first. */
  take(): Call[]
}

/** Makes a `fetch` that records every call with its status and duration. */
export function createCallLog(): CallLog {
  let calls: Call[] = []
  return {
    async fetch(url, init) {
      const start = performance.now()
      const response = await fetch(url, init)
      calls.push({
        method: init.method ?? 'GET',
        path: new URL(url).pathname,
        status: response.status,
        milliseconds: performance.now() - start,
      })
      return response
    },
    take() {
      const taken = calls
      calls = []
      return taken
    },
  }
}

/** One step of the demonstration. */
interface StepOptions<Result> {
  /** A description of the step. */
  what: string
  /** The parts of the input that are shown. */
  sent?: Facts
  call(): Promise<Result>
  /** Prints the relevant parts of the result. */
  show(result: Result, print: Printer): void
}

/** Runs one step of the demonstration and shows it. */
export type Step = <Result>(options: StepOptions<Result>) => Promise<Result>

/** Runs steps one after another and shows each with the calls that it made, also when it fails. */
export function createStep(print: Printer, calls: Pick<CallLog, 'take'>): Step {
  return async ({ what, sent, call, show }) => {
    print.step(what)
    calls.take()
    let result: Awaited<ReturnType<typeof call>>
    try {
      result = await call()
    } finally {
      for (const made of calls.take()) print.call(made)
      if (sent !== undefined) print.sent(sent)
    }
    show(result, print)
    return result
  }
}

/** A failure of the demonstration itself, with advice. */
export class DemoError extends Error {
  override name = 'DemoError'
  readonly advice: string

  constructor(message: string, advice: string) {
    super(message)
    this.advice = advice
  }
}

const proxyAdvice =
  'The call did not reach the server. If this machine uses a proxy, exclude the server and try again: NO_PROXY=localhost,127.0.0.1'

/** Explains a failed step to a person. */
export function explain(error: unknown): Explained {
  if (error instanceof DemoError) return { what: error.message, advice: error.advice }
  if (isConnectionFailure(error)) return { what: causeOf(error), advice: proxyAdvice }
  const message = messageForPeople(error instanceof Error ? error.message : String(error))
  const { type, id } = factsOf(error)
  // A client reports everything except the standard error body as `Unknown`.
  if (!isErrorType(type) || type === 'Unknown') return { what: message, advice: proxyAdvice }
  const what = `${type}: ${message}`
  if (type === 'Internal') {
    return {
      what,
      advice: `This is a fault of the server. The log lines above with ${id} have its cause: please open an issue with them.`,
    }
  }
  return {
    what,
    advice: `The server refused the call (${id}), which no step expects. If this checkout has no changes, please open an issue with this output.`,
  }
}

/** The reason why there was no response; `fetch` stores it as the cause of its error. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  return cause instanceof Error ? cause.message : String(cause)
}

function factsOf(error: unknown): { type: unknown; id: string } {
  if (!(error instanceof Error)) return { type: undefined, id: '' }
  const type = 'type' in error ? error.type : undefined
  const id = 'id' in error && typeof error.id === 'string' ? error.id : 'without an id'
  return { type, id }
}
