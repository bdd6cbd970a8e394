import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '@botstead/contract'
import type { FastifyReply, FastifyRequest, FastifyServerFactory } from 'fastify'
import { type Clock, systemTimers, type Timers } from '../../platform/clock.js'
import { type Exchange, type HeldRequests, Pipeline } from './pipeline.js'
import { Response } from './response.js'

/** Requests of all connections that wait behind others of their connection: about 40 MB. */
const heldLimit = 20_000
/** Requests of all connections that are being processed, or completed but not sent, behind others. */
const startedLimit = 500
/** Milliseconds within which the address and the headers of a request must arrive. */
const headMilliseconds = 30_000
/** Milliseconds between two checks of the progress of all bodies and responses. */
const interval = 10_000
/** Milliseconds within which a body, or at least `minBodyBytes` of it, must arrive. */
const bodyMilliseconds = 60_000
/** Bytes of a body that must arrive in that time: 17 kB per second. */
const minBodyBytes = 1_000_000
/** Milliseconds within which the client must take at least one piece of a pending response. */
const responseMilliseconds = 300_000

export interface ConnectionOptions {
  /** Maximum time in milliseconds without a byte in either direction, unless the server works on a response. */
  idleMilliseconds: number
  /** Milliseconds for the address and the headers of a request. Default: half a minute. */
  headMilliseconds?: number
  /** Requests of all connections that may wait behind others of their connection. Default: 20,000. */
  heldLimit?: number
  /** Requests of all connections that are started before their turn. Default: 500. */
  startedLimit?: number
  /** Timers for the checks. Default: those of the system. */
  timers?: Timers
  /** A monotonic clock in milliseconds. Default: that of the process. */
  clock?: Clock
}

/** The progress of a body or a response when it was last seen to move. */
interface Progress {
  of: object
  bytes: number
  since: number
}

interface Connection {
  readonly socket: Socket
  /** The last request that was handed to the application: the only one whose body can still be arriving. */
  request: IncomingMessage | undefined
  /** The response to the last request. */
  response: ServerResponse | undefined
  pipeline: Pipeline | undefined
  /** Progress of the body that arrives, and of the response that is sent. */
  body: Progress | undefined
  sent: Progress | undefined
}

/** Requests without a timeout of the body, because their reader watches the progress. */
const withoutBodyTimeout = new WeakSet<IncomingMessage>()

/** Disables the timeout of a request's body: its reader watches the progress, and an upload may take long. */
export function disableBodyTimeout(request: IncomingMessage): void {
  withoutBodyTimeout.add(request)
}

/** The limits on the connections of one application. */
export interface Connections {
  /** Creates the server and passes a bounded number of requests to the application. */
  serverFactory: FastifyServerFactory
  /**
   * Calls back once bytes that belong to no response may be written to a connection: after all
   * pending responses, or at once if the only pending request is still arriving.
   */
  afterResponses(socket: Socket, callback: () => void): void
  /** Whether a connection has responses that are not completely sent. */
  hasPending(socket: Socket): boolean
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Bounds what one connection can hold: pending requests, slow bodies, and responses that the client
 * does not read. Without pipelining this costs one map look-up per request.
 */
export function createConnections(options: ConnectionOptions): Connections {
  const { timers = systemTimers, clock = { now: () => performance.now() } } = options
  const connections = new Map<Socket, Connection>()
  const held: HeldRequests = {
    count: 0,
    limit: options.heldLimit ?? heldLimit,
    started: 0,
    startedLimit: options.startedLimit ?? startedLimit,
  }
  let cancelCheck: (() => void) | undefined

  function connectionOf(socket: Socket): Connection {
    const known = connections.get(socket)
    if (known !== undefined) return known
    // Node caches the address at the first read, and cannot determine it after the connection was reset.
    void socket.remoteAddress
    const connection: Connection = {
      socket,
      request: undefined,
      response: undefined,
      pipeline: undefined,
      body: undefined,
      sent: undefined,
    }
    connections.set(socket, connection)
    socket.once('close', () => {
      connections.delete(socket)
      if (connections.size > 0) return
      cancelCheck?.()
      cancelCheck = undefined
    })
    cancelCheck ??= timers.after(interval, checkAll)
    return connection
  }

  function checkAll(): void {
    const now = clock.now()
    for (const connection of connections.values()) {
      checkBody(connection, now)
      checkResponse(connection, now)
    }
    cancelCheck = connections.size > 0 ? timers.after(interval, checkAll) : undefined
  }

  const bounded = (handle: Handle): Handle => {
    const start = (connection: Connection, { request, response }: Exchange): void => {
      connection.request = request
      handle(request, response)
    }
    return (request, response) => {
      const { socket } = request
      // The rest of a chunk that was read before the connection was closed.
      if (socket.destroyed) return
      const connection = connectionOf(socket)
      const previous = connection.response
      connection.response = response
      const exchange = { request, response }
      // Only a response behind an earlier one has no connection yet.
      if (response.socket !== null) return start(connection, exchange)
      connection.pipeline ??= new Pipeline(socket, (next) => start(connection, next), held)
      connection.pipeline.accept(exchange, previous)
    }
  }

  return {
    serverFactory: (handle, { keepAliveTimeout }): Server => {
      const head = options.headMilliseconds ?? headMilliseconds
      const handleBounded = bounded(handle)
      const server = createServer(
        {
          ServerResponse: Response,
          headersTimeout: head,
          // The pace of bodies is checked here, because uploads have another limit.
          requestTimeout: 0,
          connectionsCheckingInterval: Math.min(head, 5000),
          ...(typeof keepAliveTimeout === 'number' && { keepAliveTimeout }),
        },
        handleBounded,
      )
      // By itself, Node refuses expectations that it does not know, without a body and past all bounds.
      // A server may ignore them.
      server.on('checkExpectation', handleBounded)
      // Node closes a connection on which nothing moves, also while the server works on a response.
      server.setTimeout(options.idleMilliseconds, (socket) => {
        if (awaitsServer(connections.get(socket))) socket.setTimeout(options.idleMilliseconds)
        else socket.destroy()
      })
      return server
    },
    afterResponses: (socket, callback) => {
      const { response } = connections.get(socket) ?? {}
      if (response === undefined || response.writableFinished) return callback()
      // Nothing more is read of a request that is still arriving, so its response is never sent.
      const isArriving = () =>
        connections.get(socket)?.request?.complete === false && !response.headersSent
      if (response.socket !== null && isArriving()) return callback()
      const whenFirst = () => {
        if (!isArriving()) return
        response.off('close', callback)
        callback()
      }
      if (response.socket === null) response.once('socket', whenFirst)
      response.once('close', callback)
    },
    // Responses are sent in order, so the last one is closed after all others.
    hasPending: (socket) => connections.get(socket)?.response?.closed === false,
  }
}

/** Whether the whole request has arrived and its response has not begun: the client can only wait. */
function awaitsServer(connection: Connection | undefined): boolean {
  return connection?.request?.complete === true && connection.response?.headersSent === false
}

/** Refuses a body that arrives too slowly, so that no client can hold a half-sent request for long. */
function checkBody(connection: Connection, now: number): void {
  const { request, socket } = connection
  if (request === undefined || request.complete || withoutBodyTimeout.has(request)) {
    connection.body = undefined
    return
  }
  const bytes = socket.bytesRead
  const before = connection.body
  // While reading is paused for pending responses, the delay is not the client's.
  if (before?.of !== request || socket.isPaused()) {
    connection.body = { of: request, bytes, since: now }
    return
  }
  if (now - before.since < bodyMilliseconds) return
  if (bytes - before.bytes < minBodyBytes) refuseBody(request)
  else connection.body = { of: request, bytes, since: now }
}

function refuseBody(request: IncomingMessage): void {
  // The reader of the body responds. There is none if the request was refused before its body arrived.
  if (request.listenerCount('error') === 0) request.socket.destroy()
  else request.emit('error', bodyTooSlow())
}

function bodyTooSlow(): ApiError {
  return new ApiError(
    'OperationTimeout',
    `The body arrived too slowly: fewer than ${minBodyBytes} bytes in ${bodyMilliseconds / 1000} seconds.`,
    { status: 408 },
  )
}

/** Disconnects a client that does not read: a pending response holds memory or an open file. */
function checkResponse(connection: Connection, now: number): void {
  const { socket } = connection
  if (socket.writableLength === 0) {
    connection.sent = undefined
    return
  }
  const bytes = socket.bytesWritten - socket.writableLength
  if (connection.sent?.bytes !== bytes) connection.sent = { of: socket, bytes, since: now }
  else if (now - connection.sent.since >= responseMilliseconds) socket.destroy()
}

/** Bytes of a refused body that are still read and discarded. */
const bytesToDrop = 4 * 1024 * 1024
/** Milliseconds for reading and discarding. */
const timeToDrop = 5000

/**
 * Reads and discards the rest of an upload for a moment after an early response, as other servers do:
 * closing at once would reset the connection, and the sender might never see the response. A sender
 * that continues is disconnected; one that ends in time keeps the connection.
 */
export function discardUnreadBody(request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = request
  // Before Node's own listener, which would discard unread data silently.
  reply.raw.prependOnceListener('finish', () => {
    const { socket } = raw
    if (raw.readableEnded) return
    raw.on('error', () => undefined)
    raw.read()
    // Node no longer notifies a request that has its response when the connection closes. A reader of the
    // body, such as a store with an open file, would wait forever.
    if (socket.destroyed) return void raw.destroy()
    const first = socket.bytesRead
    const late = setTimeout(() => socket.destroy(), timeToDrop).unref()
    const giveUp = () => {
      clearTimeout(late)
      raw.destroy()
    }
    socket.once('close', giveUp)
    raw.once('end', () => {
      clearTimeout(late)
      socket.off('close', giveUp)
    })
    // On each chunk: between two checks a fast sender could send everything.
    raw.on('data', () => {
      if (socket.bytesRead - first > bytesToDrop) socket.destroy()
    })
    raw.resume()
  })
}
