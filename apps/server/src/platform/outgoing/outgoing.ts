import { type LookupAddress, lookup } from 'node:dns'
import type { IncomingHttpHeaders } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import type { Agent, Dispatcher } from 'undici'
import { createLruCache } from '../lru-cache.js'
import type { AddressRules } from './address-rules.js'

/** The reason why a call to another server got no response. */
export type OutgoingFailure =
  /** The address is not one that may be called. */
  | 'refused'
  /** The name is unknown, the connection was refused, or it broke. */
  | 'connection'
  /** No response in time. */
  | 'timeout'

/** A call to another server that got no response; the message is for the operator of the address. */
export class OutgoingError extends Error {
  override name = 'OutgoingError'
  readonly failure: OutgoingFailure

  constructor(failure: OutgoingFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}

/** A request to another server. */
export interface OutgoingRequest {
  method: Dispatcher.HttpMethod
  headers: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** Milliseconds from the call to the end of the response. */
  timeoutMs: number
  /** Bytes of the response that are read; a longer one is truncated. */
  maxResponseBytes: number
  signal?: AbortSignal
}

/** The response of another server. */
export interface OutgoingResponse {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
  /** Whether the response was longer than what was read. */
  cut: boolean
}

/** Calls servers that users have named: bots, integrations, webhooks, model endpoints. */
export interface Outgoing extends AsyncDisposable {
  /**
   * Sends one request and reads the response, whatever its status. Redirects are not followed, because
   * they could lead anywhere.
   *
   * @throws OutgoingError when there is no response; an abort by the signal throws its reason
   */
  send(url: string, request: OutgoingRequest): Promise<OutgoingResponse>
}

/** Maximum time to connect to a server, apart from its response. */
const connectTimeoutMs = 10_000
/** Time that an idle connection is kept for the next request. */
const keepAliveMs = 15_000

export interface OutgoingOptions {
  rules: AddressRules
  /** Connections to one origin at a time; further requests wait. */
  connectionsPerOrigin?: number
  /** For the responses in progress, in which each origin has a part; unbounded if it is left out. */
  memory?: ResponseMemory
}

/** Maximum number of cached addresses. */
const maxKnownAddresses = 1000

/** The parts of an address that may be called, as far as that is known without resolving its name. */
interface Address {
  origin: string
  /** With the query. */
  path: string
}

/** Makes the client for outgoing calls, which connects only to addresses that `rules` permit. */
export function createOutgoing(options: OutgoingOptions): Outgoing {
  const { rules, connectionsPerOrigin = 256, memory } = options
  const parts = memory && createParts(memory)
  const known = createLruCache<string, Address>(maxKnownAddresses)
  let opened: Promise<Agent> | undefined

  /** The client is loaded by the first call, so that a start without one does not wait for it. */
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

  function requireAddress(url: string): Address {
    const target = parse(url)
    // A literal address is never resolved, so the guard of the lookup does not see it.
    const literal = target.hostname.replace(/^\[|\]$/g, '')
    if (isIP(literal) !== 0 && !rules.permits(literal)) throw refusal(literal, [])
    const address = { origin: target.origin, path: `${target.pathname}${target.search}` }
    known.set(url, address)
    return address
  }

  return {
    async send(url, request) {
      const address = known.get(url) ?? requireAddress(url)
      opened ??= open()
      const client = await opened
      if (parts === undefined) return await sendThrough(client, address, request)
      return await parts.use(address.origin, (held) => sendThrough(client, address, request, held))
    },
    async [Symbol.asyncDispose]() {
      await (await opened)?.destroy()
    },
  }
}

/** Bounds the bytes of responses that are held at a time. */
export interface HeldBytes {
  /** @throws OutgoingError if there is no room for more */
  hold(bytes: number): void
  release(bytes: number): void
}

/** Memory for the responses in progress of all programs, or of all addresses. */
export interface ResponseMemory {
  /** The part of one of them. */
  open(): HeldBytes
}

const unbounded: HeldBytes = { hold() {}, release() {} }

/** The part that each origin has in the memory for responses, as long as calls to it are open. */
function createParts(memory: ResponseMemory) {
  const parts = new Map<string, { held: HeldBytes; calls: number }>()
  return {
    async use<T>(origin: string, call: (held: HeldBytes) => Promise<T>): Promise<T> {
      const part = parts.get(origin) ?? { held: memory.open(), calls: 0 }
      parts.set(origin, part)
      part.calls += 1
      try {
        return await call(part.held)
      } finally {
        part.calls -= 1
        if (part.calls === 0) parts.delete(origin)
      }
    },
  }
}

/** Maximum number of interim responses before a response. */
const maxInterim = 10

/**
 * Sends one request through a client of `undici`, whatever it connects to, and reads the response.
 * @param held what the response may take up until it is complete
 * @throws OutgoingError when there is no response; an abort by the signal throws its reason
 */
export async function sendThrough(
  client: Dispatcher,
  { origin, path }: Address,
  given: OutgoingRequest,
  held = unbounded,
): Promise<OutgoingResponse> {
  const { method, headers, body = null, timeoutMs, maxResponseBytes, signal } = given
  if (signal?.aborted) throw signal.reason
  const exchange = new Exchange(maxResponseBytes, held)
  const giveUp = () =>
    exchange.fail(new OutgoingError('timeout', `No answer within ${timeoutMs} ms.`))
  // A timer that is late, because something held the event loop, is called before a response that has come is read.
  const timer = setTimeout(() => setImmediate(giveUp), timeoutMs)
  const end = () => exchange.fail(signal?.reason)
  signal?.addEventListener('abort', end)
  try {
    client.dispatch({ origin, path, method, headers, body }, exchange)
    return await exchange.response
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    throw toOutgoingError(error)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
    exchange.release()
  }
}

function parse(url: string): URL {
  const target = URL.canParse(url) ? new URL(url) : undefined
  if (target === undefined || !/^https?:$/.test(target.protocol)) {
    throw new OutgoingError('refused', `${url} is not an http or https address.`)
  }
  return target
}

/**
 * Collects the response to one request, as the handler that the client calls. The methods of the client
 * that return a promise make a stream, a signal and an asynchronous context for each request, which
 * together cost as much as the request.
 */
class Exchange implements Dispatcher.DispatchHandler {
  /** Rejects with the failure of the client, or with what `fail` was called with. */
  readonly response: Promise<OutgoingResponse>
  readonly #maxBytes: number
  readonly #held: HeldBytes
  #resolve: (response: OutgoingResponse) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  #controller: Dispatcher.DispatchController | undefined
  #ended = false
  #status = 0
  #headers: IncomingHttpHeaders = {}
  #interim = 0
  /** The body as far as it was read, with room for more. An object for each chunk could be millions of them. */
  #body = Buffer.alloc(0)
  #size = 0

  constructor(maxBytes: number, held: HeldBytes) {
    this.#maxBytes = maxBytes
    this.#held = held
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** Ends the call now, also if it still waits for a connection; does nothing after its end. */
  fail(error: unknown): void {
    this.#reject(error)
    this.#end()
  }

  /** Gives back the room that the response took, when the call has ended. */
  release(): void {
    this.#held.release(this.#body.length)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#ended) this.#end()
  }

  /** Called for interim responses, too; the final one comes last. */
  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status
    this.#headers = headers
    if (status >= 200) return
    this.#interim += 1
    if (this.#interim <= maxInterim) return
    this.fail(new OutgoingError('connection', 'It sent too many interim responses.'))
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#ended) return
    const remaining = this.#maxBytes - this.#size
    try {
      this.#keep(chunk.length <= remaining ? chunk : chunk.subarray(0, remaining))
    } catch (error) {
      this.fail(error)
      return
    }
    if (chunk.length <= remaining) return
    this.#respond(true)
    // Closes the connection: the rest is not wanted.
    this.#end()
  }

  onResponseEnd(): void {
    this.#respond(false)
  }

  onResponseError(_: unknown, error: Error): void {
    this.#reject(error)
  }

  #keep(piece: Uint8Array): void {
    const size = this.#size + piece.length
    if (size > this.#body.length) {
      // The first piece is mostly all of it.
      const room = this.#size === 0 ? size : Math.max(size, Math.min(size * 2, this.#maxBytes))
      this.#held.hold(room - this.#body.length)
      const larger = Buffer.allocUnsafe(room)
      this.#body.copy(larger, 0, 0, this.#size)
      this.#body = larger
    }
    this.#body.set(piece, this.#size)
    this.#size = size
  }

  #respond(cut: boolean): void {
    this.#resolve({
      status: this.#status,
      headers: this.#headers,
      body: this.#body.subarray(0, this.#size),
      cut,
    })
  }

  /** Ends the request, if it was begun; otherwise as soon as it begins. */
  #end(): void {
    this.#ended = true
    this.#controller?.abort(new Error('The call has ended'))
  }
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

/**
 * Resolves a name for the connection that is about to be made, and leaves only addresses that may be
 * called. The connection goes to the address that was checked, so a name that resolves differently the
 * next time (DNS rebinding) gains nothing.
 */
function guardedLookup(rules: AddressRules): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const permitted = addresses.filter(({ address }) => rules.permits(address))
      const [first] = permitted
      if (first === undefined) return callback(refusal(hostname, addresses), [])
      if (options.all) callback(null, permitted)
      else callback(null, first.address, first.family)
    })
  }
}

/** Names the address that was refused and what an operator can do. */
function refusal(hostname: string, addresses: readonly LookupAddress[]): OutgoingError {
  const [first] = addresses
  const resolved = first && first.address !== hostname ? ` (${first.address})` : ''
  return new OutgoingError(
    'refused',
    `${hostname}${resolved} is not a public address. Name its network in BOTSTEAD_ALLOWED_NETWORKS if it shall be called.`,
  )
}
