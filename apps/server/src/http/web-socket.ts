import { type IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { WebSocketServer } from 'ws'
import { keepAlive } from '../platform/streams/frame.js'
import type { Sink } from '../platform/streams/sink.js'
import { goneSink, socketSink } from './socket-sink.js'

interface Upgrade {
  socket: Socket
  head: Buffer
  response: ServerResponse
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>()

/** Clients send nothing but control frames. */
const maxIncomingBytes = 1024
/** The server goes away: clients may come back. */
const goingAway = 1001

const handshakes = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: maxIncomingBytes,
})

/** Whether a request asks for WebSocket. */
export function wantsWebSocket(request: FastifyRequest): boolean {
  return upgrades.has(request.raw)
}

/**
 * Sends requests for WebSocket the way of all others, so that they are let in or refused by the same
 * rules and with the same answers. Only an operation that streams then shakes hands.
 */
export function acceptUpgrades(app: FastifyInstance): void {
  app.server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    if (!(stream instanceof Socket)) return void stream.destroy()
    stream.on('error', () => {})
    if (!/^websocket$/i.test(request.headers.upgrade ?? '')) {
      withoutUpgrade(app, request, stream, head)
      return
    }
    const response = new ServerResponse(request)
    response.assignSocket(stream)
    response.shouldKeepAlive = false
    response.on('finish', () => stream.end())
    upgrades.set(request, { socket: stream, head, response })
    app.routing(request, response)
  })
}

/** Shakes hands; what is wrong with the handshake itself is answered by the library. */
export async function openWebSocket(request: FastifyRequest, reply: FastifyReply): Promise<Sink> {
  const upgrade = upgrades.get(request.raw)
  reply.hijack()
  if (upgrade === undefined) return goneSink
  const { socket, head, response } = upgrade
  upgrades.delete(request.raw)
  response.detachSocket(socket)
  socket.setTimeout(0)
  socket.setKeepAlive(true, 60_000)
  return await new Promise((resolve) => {
    socket.once('close', () => resolve(goneSink))
    handshakes.handleUpgrade(request.raw, socket, head, (peer) => {
      // Whatever a peer does wrong ends its connection, and that is all.
      peer.on('error', () => {})
      resolve(
        socketSink(socket, {
          of: (frame) => frame.webSocket,
          ping: keepAlive.webSocket,
          end: () => peer.close(goingAway),
        }),
      )
    })
  })
}

/**
 * Some clients offer HTTP/2 with every request they make. They are to be answered as if they had not,
 * but the parser has let go of the connection: it gets the request once more, without the offer.
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
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  app.server.emit('connection', socket)
}
