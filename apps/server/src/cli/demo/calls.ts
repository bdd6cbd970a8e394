import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { ClientRequest, IncomingMessage } from 'node:http'
import { performance } from 'node:perf_hooks'

/** One HTTP call as it went over the wire. */
export interface Call {
  method: string
  /** Without the query. */
  path: string
  status: number
  /** From the end of the request to the beginning of the answer. */
  milliseconds: number
}

/** Watches the HTTP calls of this process to one server. */
export interface CallWatch extends Disposable {
  /** The calls since the last time somebody asked, oldest first. */
  take(): Call[]
}

const sent = 'http.client.request.start'
const answered = 'http.client.response.finish'

/**
 * Begins to watch. What is shown to people is what the client packages did, and not what somebody
 * believes they do.
 * @param address base address of the server
 */
export function watchCalls(address: string): CallWatch {
  const { host } = new URL(address)
  const startOf = new WeakMap<ClientRequest, number>()
  let calls: Call[] = []

  const noteStart = (message: unknown) => {
    const request = requestOf(message)
    if (request !== undefined) startOf.set(request, performance.now())
  }
  const noteAnswer = (message: unknown) => {
    const request = requestOf(message)
    if (request === undefined || request.getHeader('host') !== host) return
    const now = performance.now()
    calls.push({
      method: request.method,
      path: request.path.split('?', 1)[0] ?? '',
      status: statusOf(message),
      milliseconds: now - (startOf.get(request) ?? now),
    })
  }

  subscribe(sent, noteStart)
  subscribe(answered, noteAnswer)
  return {
    take: () => {
      const taken = calls
      calls = []
      return taken
    },
    [Symbol.dispose]: () => {
      unsubscribe(sent, noteStart)
      unsubscribe(answered, noteAnswer)
    },
  }
}

function requestOf(message: unknown): ClientRequest | undefined {
  if (typeof message !== 'object' || message === null || !('request' in message)) return undefined
  return message.request instanceof ClientRequest ? message.request : undefined
}

function statusOf(message: unknown): number {
  if (typeof message !== 'object' || message === null || !('response' in message)) return 0
  return message.response instanceof IncomingMessage ? (message.response.statusCode ?? 0) : 0
}
