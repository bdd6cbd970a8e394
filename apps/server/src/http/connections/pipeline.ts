import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A request with the response that belongs to it. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

/** Requests of one connection that are worked on, or answered and not sent, behind an earlier one. */
const maxStarted = 16
/** Bytes of answers that wait for an earlier one to be sent, above which no further request is started. */
const maxWaitingBytes = 1024 * 1024
/** Requests that a connection may have waiting, however many wait on others, or dropped unanswered. */
const maxHeldAlways = 64

const ending = new WeakSet<Socket>()

/**
 * Starts no further request of a connection whose present answer says that it is the last: the
 * client would not learn what became of them (RFC 9112, section 9.6).
 */
export function startNoMore(socket: Socket): void {
  ending.add(socket)
}

/** Requests behind others of their connection, over all connections. */
export interface HeldRequests {
  /** Those that wait for their turn. */
  count: number
  /** Above this many, a connection that has many of them is closed. */
  readonly limit: number
  /** Those that were started before their turn; each may keep memory and an open file. */
  started: number
  /** From this many on, a connection starts one request after the other. */
  readonly startedLimit: number
}

/**
 * The requests that a client sends without waiting for the answers to earlier ones. Answers go out in
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
   * Starts a request whose answer must wait for an earlier one, or holds it until there is room.
   * @param previous the answer to the request before it
   */
  accept(exchange: Exchange, previous: ServerResponse | undefined): void {
    if (ending.has(this.#socket)) this.#drop()
    else if (this.#held.length === 0 && this.#hasRoom()) this.#begin(exchange)
    else {
      // Only the answer ahead is left to end; without it nothing would start those that are held.
      const isSecond = this.#held.length === 0 && this.#started.size === 0
      if (isSecond) previous?.once('close', () => this.#goOn())
      this.#hold(exchange)
    }
  }

  /** Not held: the connection has to be read on, so that its end is noticed. */
  #drop(): void {
    this.#dropped += 1
    if (this.#dropped > maxHeldAlways) this.#socket.destroy()
  }

  #hasRoom(): boolean {
    if (this.#started.size >= maxStarted) return false
    if (this.#heldInAll.started >= this.#heldInAll.startedLimit) return false
    let bytes = 0
    // An answer that has the connection is bounded by what the connection takes.
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
    // What was read in one piece is parsed in one piece, so that some come after the pause.
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
    // The first in line is started whatever other connections have.
    while (next < waiting.length && (this.#started.size === 0 || this.#hasRoom())) {
      const exchange = waiting[next]
      next += 1
      if (exchange) this.#begin(exchange)
    }
    this.#held = waiting.slice(next)
    this.#heldInAll.count -= next
    if (this.#held.length === 0) this.#socket.resume()
  }

  #forget(): void {
    this.#heldInAll.count -= this.#held.length
    this.#held = []
  }
}
