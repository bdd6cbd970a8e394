import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A request with its response. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

/** Requests of one connection that are being processed, or completed but not sent, behind an earlier one. */
const maxStarted = 16
/** Bytes of responses waiting behind an earlier one, above which no further request is started. */
const maxWaitingBytes = 1024 * 1024
/** Held requests that every connection may have, whatever the total; and dropped requests likewise. */
const maxHeldAlways = 64

const ending = new WeakSet<Socket>()

/**
 * Starts no further requests of a connection whose current response announces that it closes: the
 * client would not learn their outcome (RFC 9112, section 9.6).
 */
export function stopStarting(socket: Socket): void {
  ending.add(socket)
}

/** The number of requests behind others of their connection, over all connections. */
export interface HeldRequests {
  /** Requests that are held. */
  count: number
  /** Above this total, a connection that holds many requests is closed. */
  readonly limit: number
  /** Requests that were started before their turn; each may hold memory and an open file. */
  started: number
  /** From this number on, a connection starts one request at a time. */
  readonly startedLimit: number
}

/**
 * The requests that a client sends without waiting for earlier responses. Responses are sent in
 * the order of the requests, so a client that sends many and reads nothing keeps all of them in memory.
 * A few are processed at a time, the others are held unprocessed, and the connection is not read while
 * any is held.
 */
export class Pipeline {
  readonly #socket: Socket
  readonly #start: (exchange: Exchange) => void
  readonly #heldInAll: HeldRequests
  readonly #started = new Set<ServerResponse>()
  #held: Exchange[] = []
  #dropped = 0

  constructor(socket: Socket, start: (exchange: Exchange) => void, heldInAll: HeldRequests) {
    this.#socket = socket
    this.#start = start
    this.#heldInAll = heldInAll
    // Node resumes a connection for reasons of its own, such as the end of a request's body.
    socket.on('resume', () => {
      if (this.#held.length > 0) socket.pause()
    })
    socket.once('close', () => this.#forget())
  }

  /**
   * Starts a request whose response must wait for an earlier one, or holds it until there is capacity.
   * @param previous the response to the request before it
   */
  accept(exchange: Exchange, previous: ServerResponse | undefined): void {
    if (ending.has(this.#socket)) this.#drop()
    else if (this.#held.length === 0 && this.#hasRoom()) this.#begin(exchange)
    else {
      // Only the current response is pending; its end alone would not start a held request.
      const isSecond = this.#held.length === 0 && this.#started.size === 0
      if (isSecond) previous?.once('close', () => this.#goOn())
      this.#hold(exchange)
    }
  }

  /** Drops requests instead of holding them: the connection is still read, so that its end is noticed. */
  #drop(): void {
    this.#dropped += 1
    if (this.#dropped > maxHeldAlways) this.#socket.destroy()
  }

  #hasRoom(): boolean {
    if (this.#started.size >= maxStarted) return false
    if (this.#heldInAll.started >= this.#heldInAll.startedLimit) return false
    let bytes = 0
    // The response that is being sent is bounded by the buffer of the connection.
    for (const response of this.#started) {
      if (response.socket === null) bytes += response.writableLength
    }
    return bytes < maxWaitingBytes
  }

  #begin(exchange: Exchange): void {
    const { response } = exchange
    this.#started.add(response)
    this.#heldInAll.started += 1
    response.once('close', () => {
      this.#started.delete(response)
      this.#heldInAll.started -= 1
      this.#goOn()
    })
    this.#start(exchange)
  }

  #hold(exchange: Exchange): void {
    this.#held.push(exchange)
    this.#heldInAll.count += 1
    // Requests of one chunk are parsed together, so some arrive after the pause.
    this.#socket.pause()
    if (this.#heldInAll.count > this.#heldInAll.limit && this.#held.length > maxHeldAlways) {
      this.#socket.destroy()
      this.#forget()
    }
  }

  #goOn(): void {
    if (this.#held.length === 0 || this.#socket.destroyed || ending.has(this.#socket)) return
    const waiting = this.#held
    let next = 0
    // The first request is started whatever other connections hold.
    while (next < waiting.length && (this.#started.size === 0 || this.#hasRoom())) {
      const exchange = waiting[next]
      next += 1
      if (exchange) this.#begin(exchange)
    }
    this.#held = waiting.slice(next)
    this.#heldInAll.count -= next
    if (this.#held.length === 0) this.#socket.resume()
  }

  /** By itself Node closes only the response that is being sent; others may have open files and sockets. */
  #forget(): void {
    for (const response of this.#started) if (response.socket === null) abandon(response)
    this.#heldInAll.count -= this.#held.length
    this.#held = []
  }
}

/** Does what Node does with the response that is being sent. */
function abandon(response: ServerResponse): void {
  Object.assign(response, { destroyed: true, _closed: true })
  response.emit('close')
}
