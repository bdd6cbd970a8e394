import { isIP } from 'node:net'
import type { Agent, Dispatcher } from 'undici'
import type { AddressRules } from './address-rules.js'
import { OutgoingError } from './errors.js'
import { guardedLookup, refusal } from './lookup.js'

export interface OutgoingRequest {
  method: Dispatcher.HttpMethod
  headers: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** Milliseconds from the call to the end of the answer. */
  timeoutMs: number
  /** Bytes of the answer that are read; what is longer is cut. */
  maximumAnswerBytes: number
  signal?: AbortSignal
}

export interface OutgoingAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
  /** Whether the answer was longer than what was read. */
  cut: boolean
}

/** Calls servers that users have named: bots, integrations, webhooks, model endpoints. */
export interface Outgoing extends AsyncDisposable {
  /**
   * Sends one request and reads the answer, whatever its status. Redirects are not followed, because
   * they could lead anywhere.
   *
   * @throws OutgoingError when there is no answer; an abort by the signal throws its reason
   */
  send(url: string, request: OutgoingRequest): Promise<OutgoingAnswer>
}

/** Longest time to reach a server, apart from its answer. */
const connectTimeoutMs = 10_000
/** How long a connection is kept for the next request. */
const keepAliveMs = 15_000

export interface OutgoingOptions {
  rules: AddressRules
  /** Connections to one origin at a time; further requests wait. */
  connectionsPerOrigin?: number
}

export function createOutgoing({ rules, connectionsPerOrigin = 256 }: OutgoingOptions): Outgoing {
  let opened: Promise<Agent> | undefined

  /** The client is loaded by the first call: a start without one shall not wait for it. */
  async function open(): Promise<Agent> {
    const { Agent: Client } = await import('undici')
    return new Client({
      connect: { lookup: guardedLookup(rules), timeout: connectTimeoutMs },
      connections: connectionsPerOrigin,
      keepAliveTimeout: keepAliveMs,
      // The whole call has a limit of its own.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  async function send(url: string, given: OutgoingRequest): Promise<OutgoingAnswer> {
    const target = parse(url)
    // The resolver is not asked about addresses, so its guard does not see them.
    const literal = target.hostname.replace(/^\[|\]$/g, '')
    if (isIP(literal) !== 0 && !rules.permits(literal)) throw refusal(literal, [])

    opened ??= open()
    const agent = await opened
    if (given.signal?.aborted) throw given.signal.reason
    // One signal for both ends of a call: signals made of signals cost more than the rest of it.
    const ending = new AbortController()
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      ending.abort()
    }, given.timeoutMs)
    const end = () => ending.abort()
    given.signal?.addEventListener('abort', end)
    try {
      const { statusCode, headers, body } = await agent.request({
        origin: target.origin,
        path: `${target.pathname}${target.search}`,
        method: given.method,
        headers: given.headers,
        body: given.body ?? null,
        signal: ending.signal,
      })
      const read = await readAtMost(body, given.maximumAnswerBytes)
      return { status: statusCode, headers, ...read }
    } catch (error) {
      if (given.signal?.aborted) throw given.signal.reason
      if (isLate) throw new OutgoingError('timeout', `No answer within ${given.timeoutMs} ms.`)
      throw toOutgoingError(error)
    } finally {
      clearTimeout(timer)
      given.signal?.removeEventListener('abort', end)
    }
  }

  return {
    send,
    async [Symbol.asyncDispose]() {
      await (await opened)?.destroy()
    },
  }
}

function parse(url: string): URL {
  const target = URL.canParse(url) ? new URL(url) : undefined
  if (target === undefined || !/^https?:$/.test(target.protocol)) {
    throw new OutgoingError('refused', `${url} is not an http or https address.`)
  }
  return target
}

async function readAtMost(
  body: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<Pick<OutgoingAnswer, 'body' | 'cut'>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    const room = limit - size
    if (chunk.length > room) {
      chunks.push(chunk.subarray(0, room))
      // Leaving the loop closes the connection: nobody waits for the rest.
      return { body: Buffer.concat(chunks), cut: true }
    }
    chunks.push(chunk)
    size += chunk.length
  }
  return { body: Buffer.concat(chunks), cut: false }
}

function toOutgoingError(error: unknown): OutgoingError {
  if (error instanceof OutgoingError) return error
  const cause = error instanceof Error ? error : new Error(String(error))
  return new OutgoingError('connection', explain(cause), { cause })
}

const explanations: Record<string, string> = {
  ECONNREFUSED: 'Nobody listens at the address.',
  ECONNRESET: 'The connection broke before there was an answer.',
  UND_ERR_SOCKET: 'The connection broke before there was an answer.',
  ENOTFOUND: 'The name is unknown.',
  EAI_AGAIN: 'The name could not be resolved.',
  EHOSTUNREACH: 'The address cannot be reached.',
  ENETUNREACH: 'The address cannot be reached.',
  UND_ERR_CONNECT_TIMEOUT: `No connection within ${connectTimeoutMs} ms.`,
  ETIMEDOUT: 'The address did not answer.',
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is signed by itself.',
}

function explain(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const known = explanations[code]
  return known === undefined ? `The call failed: ${error.message}` : `${known} (${code})`
}
