import { type IncomingMessage, Server } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ApiError } from '@botstead/contract'
import websocket from '@fastify/websocket'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { keepAlive } from '../../platform/streams/frame.js'
import { closeCodes, type EndReason, type Sink } from '../../platform/streams/sink.js'
import { type Connections, endConnection, refuseRaw } from '../connections/index.js'
import { socketSink } from './sink.js'

/** Clients of streams send nothing but control frames. */
const maxIncomingBytes = 1024
/** The code for each reason to end a stream. After "going away" clients reconnect. */
const codes = {
  stopping: closeCodes.goingAway,
  unauthorized: closeCodes.policyViolation,
} as const satisfies Record<EndReason, number>

/** Whether a request is for a WebSocket. */
export function wantsWebSocket(request: FastifyRequest): boolean {
  return request.ws === true
}

/**
 * Enables WebSocket handshakes on the routes of a scope. Such requests pass through the same hooks as all
 * others before, so that they are admitted or refused by the same rules and with the same responses.
 * @param server one of {@link Upgrades}
 * @param maxPayload most bytes of one message from a client
 */
export async function acceptWebSockets(
  scope: FastifyInstance,
  server: Server,
  newRequestId: () => string,
  maxPayload = maxIncomingBytes,
): Promise<void> {
  await scope.register(websocket, {
    options: {
      server,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload,
    },
    // Any protocol error of a peer just ends its connection.
    errorHandler: (_error, peer) => peer.terminate(),
    // Streams are ended by those who serve them; new ones are refused by the handler.
    preClose: (done) => done(),
  })
  scope.websocketServer.on('wsClientError', (error, _stream, { socket }) => {
    const refusal = new ApiError('InvalidPayload', `${error.message}: no WebSocket was opened.`)
    refuseRaw(socket, refusal, newRequestId(), { 'sec-websocket-version': '13' })
  })
}

/** A sink that writes to the connection of a WebSocket. */
export function webSocketSink(peer: WebSocket, { raw: { socket } }: FastifyRequest): Sink {
  socket.setTimeout(0)
  socket.setNoDelay(true)
  socket.setKeepAlive(true, 60_000)
  return socketSink(socket, {
    of: (frame) => frame.webSocket,
    ping: keepAlive.webSocket,
    end: (reason) => peer.close(codes[reason]),
  })
}

interface UpgradeOptions {
  newRequestId: () => string
  connections: Pick<Connections, 'afterResponses' | 'hasPending'>
  /** Milliseconds without a byte after which a connection is given up. */
  idleMilliseconds: number
  /** Returns which server handles WebSockets at a URL, if any. */
  socketsAt(url: string): keyof Upgrades['servers'] | undefined
}

/** Decides which requests may become a WebSocket. */
export interface Upgrades {
  /** Emit `upgrade` for those requests alone, the one or the other; they never listen. */
  servers: { streams: Server; sockets: Server }
  /** Closes the connection of such a request once it got a response in place of an upgrade. */
  endAfterResponse(request: FastifyRequest, reply: FastifyReply): void
}

/** Header fields that the parser reads; further ones are dropped. */
const maxHeaders = 1000

/**
 * Receives every connection that the parser detaches, because of `Upgrade` or `CONNECT`, and decides
 * whether it becomes a WebSocket, an ordinary request, or a refusal.
 */
export function screenUpgrades(
  app: FastifyInstance,
  { newRequestId, connections, idleMilliseconds, socketsAt }: UpgradeOptions,
): Upgrades {
  const servers = { streams: new Server(), sockets: new Server() }
  const passedOn = new WeakMap<IncomingMessage, Socket>()

  const refusalOf = (request: IncomingMessage, socket: Socket): ApiError | undefined => {
    if (connections.hasPending(socket)) return upgradeNotFirst()
    if (request.method === 'CONNECT') return connectRefused()
    // The length of the body may be among the dropped headers.
    return request.rawHeaders.length >= 2 * maxHeaders ? tooManyHeaders() : undefined
  }

  const screen = (request: IncomingMessage, socket: Socket, head: Buffer): void => {
    const refusal = refusalOf(request, socket)
    const kind = isWebSocket(request) ? socketsAt(request.url ?? '') : undefined
    if (refusal !== undefined) {
      // Further input is ignored, but must be read to notice that the client disconnects.
      socket.once('end', () => socket.end()).resume()
      const headers: Record<string, string> = refusal.type === 'MethodNotFound' ? { allow: '' } : {}
      connections.afterResponses(socket, () => refuseRaw(socket, refusal, newRequestId(), headers))
    } else if (kind !== undefined) {
      passedOn.set(request, socket)
      if (!servers[kind].emit('upgrade', request, socket, head)) socket.destroy()
    } else {
      unguard(socket)
      withoutUpgrade(app, request, socket, head)
    }
  }

  const take = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    if (!(stream instanceof Socket)) return void stream.destroy()
    guard(stream)
    stream.setTimeout(idleMilliseconds)
    if (stream.writable) screen(request, stream, head)
    else stream.destroy()
  }
  app.server.maxHeadersCount = maxHeaders
  app.server.on('upgrade', take)
  app.server.on('connect', take)

  return {
    servers,
    endAfterResponse: (request, reply) => {
      const socket = passedOn.get(request.raw)
      if (socket === undefined) return
      reply.header('connection', 'close')
      // The plugin's own response has no error listener.
      reply.raw.on('error', () => {})
      reply.raw.once('finish', () => endConnection(socket))
    },
  }
}

/** Node has removed its listeners from the connection, and an unhandled error would end the process. */
function guard(socket: Socket): void {
  socket.on('error', destroy).on('timeout', destroy)
}

function unguard(socket: Socket): void {
  socket.off('error', destroy).off('timeout', destroy)
}

function destroy(this: Socket): void {
  this.destroy()
}

function isWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}

/**
 * Some clients offer HTTP/2 with every request. The server ignores the offer, but the parser
 * has detached the connection: it gets the request again, without the offer. The same applies to a
 * WebSocket request at an address that has none.
 */
function withoutUpgrade(
  app: FastifyInstance,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): void {
  const offers = /^(upgrade|connection|http2-settings)$/i
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`]
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i] ?? ''
    if (!offers.test(name)) lines.push(`${name}: ${request.rawHeaders[i + 1]}`)
  }
  if (isLast(request)) lines.push('Connection: close')
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  app.server.emit('connection', socket)
}

/** Whether the client also requested that the connection be closed, which still applies. */
function isLast({ headers }: IncomingMessage): boolean {
  return /(^|,)\s*close\s*(,|$)/i.test(headers.connection ?? '')
}

function upgradeNotFirst(): ApiError {
  return new ApiError(
    'InvalidPayload',
    'A request with an Upgrade header, or CONNECT, must be sent after all earlier requests on its connection were answered.',
  )
}

function connectRefused(): ApiError {
  return new ApiError('MethodNotFound', 'This server is not a proxy: CONNECT is not supported.')
}

function tooManyHeaders(): ApiError {
  return new ApiError('PayloadTooLarge', `A request must have fewer than ${maxHeaders} headers.`)
}
