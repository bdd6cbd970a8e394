import { ApiError } from '@botstead/contract'
import websocket from '@fastify/websocket'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { keepAlive } from '../platform/streams/frame.js'
import type { Sink } from '../platform/streams/sink.js'
import { refuseRaw } from './raw-answer.js'
import { socketSink } from './socket-sink.js'
import type { Upgrades } from './upgrades.js'

/** Clients send nothing but control frames. */
const maxIncomingBytes = 1024
/** The server goes away: clients may come back. */
const goingAway = 1001

/** Whether a request asks for WebSocket. */
export function wantsWebSocket(request: FastifyRequest): boolean {
  return request.ws === true
}

/**
 * Lets the routes of a scope shake hands. Requests for WebSocket go the way of all others before, so
 * that they are let in or refused by the same rules and with the same answers.
 */
export async function acceptWebSockets(
  scope: FastifyInstance,
  { server }: Upgrades,
  newRequestId: () => string,
): Promise<void> {
  await scope.register(websocket, {
    options: {
      server,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: maxIncomingBytes,
    },
    // Whatever a peer does wrong ends its connection, and that is all.
    errorHandler: (_error, peer) => peer.terminate(),
    // Streams are ended by those who serve them; those that ask meanwhile are refused by the handler.
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
    end: () => peer.close(goingAway),
  })
}
