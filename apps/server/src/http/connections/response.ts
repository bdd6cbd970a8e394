import { type IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http'
import type { FastifyReply } from 'fastify'

/** Counts a response, with its status and the milliseconds since the head of its request arrived. */
type Observe = (status: number, milliseconds: number) => void

/** Values of the rate-limit headers of a response. */
export interface Allowance {
  /** Burst of the rate limit, in requests. */
  readonly limit: number
  /** Requests that would be allowed right now. */
  readonly remaining: number
  /** Seconds until the whole burst is available again. */
  readonly resetSeconds: number
}

declare module 'node:http' {
  interface OutgoingMessage {
    /** Completes a head from its first lines; Node itself writes every head with it. */
    _storeHeader?(firstLines: string, headers: readonly string[]): void
  }
}

/**
 * A response that has the headers of all responses, is sent in one piece if it is one text, and whose late writes
 * do not end the process.
 */
export class Response<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  /** Called when the operating system has taken all of the response; not called if the client has disconnected before. */
  observe: Observe | undefined = undefined
  requestId: string | undefined = undefined
  allowance: Allowance | undefined = undefined
  readonly #startedAt = performance.now()

  constructor(...options: ConstructorParameters<typeof ServerResponse<Request>>) {
    super(...options)
    // A write after the end of the connection fails with an event.
    this.on('error', ignore)
  }

  /** Adds the headers of all responses; those that are given replace them. */
  override writeHead(...head: unknown[]): this {
    const { requestId, allowance } = this
    if (requestId !== undefined) this.#setDefault('x-request-id', requestId)
    if (allowance !== undefined) {
      this.#setDefault('ratelimit-limit', allowance.limit)
      this.#setDefault('ratelimit-remaining', allowance.remaining)
      this.#setDefault('ratelimit-reset', allowance.resetSeconds)
    }
    return super.writeHead(...(head as Parameters<ServerResponse['writeHead']>))
  }

  #setDefault(name: string, value: string | number): void {
    if (!this.hasHeader(name)) this.setHeader(name, value)
  }

  /** Whether {@link sendWhole} may be used: the plain case, in which the head depends on nothing else. */
  get canSendWhole(): boolean {
    const { req, socket } = this
    return (
      socket !== null &&
      !socket.destroyed &&
      !this.headersSent &&
      this._storeHeader !== undefined &&
      req.method !== 'HEAD' &&
      req.httpVersionMinor === 1 &&
      req.headers.expect === undefined
    )
  }

  /**
   * Sends a body with a head that is put together from lines. Node checks every character of the name and value
   * of every header, which costs more than the rest of the head; these are numbers, ids, and what was checked.
   * @param status one with a body
   * @param lines further headers, `name: value\r\n` each
   */
  sendWhole(status: number, lines: string, body: string | Buffer): void {
    const { requestId, allowance } = this
    const bytes = Buffer.byteLength(body)
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
    if (requestId !== undefined) head += `x-request-id: ${requestId}\r\n`
    if (allowance !== undefined) {
      head += `ratelimit-limit: ${allowance.limit}\r\nratelimit-remaining: ${allowance.remaining}\r\nratelimit-reset: ${allowance.resetSeconds}\r\n`
    }
    this.statusCode = status
    this._storeHeader?.(head + lines, ['content-length', String(bytes)])
    // ASCII is the same in both encodings, and copied faster in this one.
    this.#endInOnePiece(body, bytes === body.length ? 'latin1' : 'utf8')
  }

  /**
   * Writes a text before it ends the response. If Node gets the text with the end, it sends an empty text after
   * it, and the system call for two pieces takes a quarter of the time of an empty request.
   */
  override end(...rest: unknown[]): this {
    const [text, encoding, callback] = rest
    const isText = typeof text === 'string' && text !== '' && !encoding && !callback
    if (!isText || this.socket === null || this.writableEnded) {
      if (this.observe !== undefined) this.once('finish', this.#report)
      return super.end(...(rest as Parameters<ServerResponse['end']>))
    }
    this.#endInOnePiece(text, 'utf8')
    return this
  }

  #endInOnePiece(body: string | Buffer, encoding: 'latin1' | 'utf8'): void {
    const { socket } = this
    if (socket === null) return
    // Head and body become one piece, and leave now: Node itself would wait for the next tick.
    socket.cork()
    this.write(body, encoding)
    socket.uncork()
    // The rest, which the operating system did not take, is sent as fast as the client reads; its time counts.
    const isTaken = socket.writableLength === 0
    if (!isTaken && this.observe !== undefined) this.once('finish', this.#report)
    super.end()
    if (isTaken) this.#report()
  }

  #report(): void {
    if (!this.destroyed) this.observe?.(this.statusCode, performance.now() - this.#startedAt)
  }
}

/**
 * Calls a function when a response was sent, and never if the client disconnects before. The framework's hook for
 * this takes as long as the validation of a short body.
 */
export function observeResponse(response: ServerResponse, observe: Observe): void {
  if (response instanceof Response) response.observe = observe
}

/** Sets the header with the id of the request. */
export function setRequestId(reply: FastifyReply, id: string): void {
  const { raw } = reply
  // Refused handshakes have a response of the plugin.
  if (raw instanceof Response) raw.requestId = id
  else reply.header('x-request-id', id)
}

/** Sets the rate-limit headers, in place of those that were set before. */
export function setAllowance(reply: FastifyReply, allowance: Allowance): void {
  const { raw } = reply
  if (raw instanceof Response) raw.allowance = allowance
  else {
    reply.header('ratelimit-limit', allowance.limit)
    reply.header('ratelimit-remaining', allowance.remaining)
    reply.header('ratelimit-reset', allowance.resetSeconds)
  }
}

function ignore(): void {}

/** Whether the client has disconnected. */
export function isGone({ socket }: IncomingMessage): boolean {
  return socket.destroyed || socket.remoteAddress === undefined
}
