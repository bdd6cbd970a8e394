import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { keepAlive } from '../../platform/streams/frame.js'
import type { Sink, StartStream } from '../../platform/streams/sink.js'
import { startNoMore } from '../connections/index.js'
import { goneSink, socketSink } from './sink.js'
import { webSocketSink } from './web-socket.js'

export { acceptWebSockets, screenUpgrades, wantsWebSocket } from './web-socket.js'

/** The handlers of a route that give an admitted caller a stream, in either transport. */
export function streamHandlers(
  admit: (request: FastifyRequest, reply: FastifyReply) => Promise<StartStream>,
) {
  const starts = new WeakMap<FastifyRequest, StartStream>()
  return {
    // A stream has no length and no end that HEAD could say.
    exposeHeadRoute: false,
    // Before the handler, because the handshake comes between them: a refusal must be a response.
    preHandler: async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      await turnOf(reply.raw)
      starts.set(request, startOnce(request, await admit(request, reply)))
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const sink = await openEventStream(reply)
      starts.get(request)?.(sink)
      return reply
    },
    wsHandler: (peer: WebSocket, request: FastifyRequest): void => {
      starts.get(request)?.(webSocketSink(peer, request))
    },
  }
}

/**
 * Resolves when the answers to earlier requests of the connection are sent, or it has closed: until then
 * the response has no connection that a stream could write to, and must hold no slot.
 */
async function turnOf(response: ServerResponse): Promise<void> {
  if (response.socket !== null || response.destroyed) return
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off('socket', done)
      response.off('close', done)
      resolve()
    }
    response.on('socket', done)
    response.on('close', done)
  })
}

/** Starts the stream also if the connection has closed: an admitted caller holds a slot until it ends. */
function startOnce({ raw: { socket } }: FastifyRequest, start: StartStream): StartStream {
  let hasBegun = false
  const begin: StartStream = (sink) => {
    socket.off('close', giveUp)
    if (hasBegun) return
    hasBegun = true
    start(sink)
  }
  const giveUp = () => begin(goneSink)
  if (socket.destroyed) giveUp()
  else socket.once('close', giveUp)
  return begin
}

/**
 * Milliseconds between the headers and the first event. What comes in one piece with the headers is
 * lost by the clients of the interface, which begin to read a moment later.
 */
const gapMilliseconds = 50

/** Answers with server-sent events; resolves when the first may be sent. */
async function openEventStream(reply: FastifyReply): Promise<Sink> {
  reply.hijack()
  const { raw } = reply
  const socket = raw.socket
  if (socket === null || socket.destroyed) return goneSink
  // The stream ends with the connection, so that one buffer can go to all listeners as it is.
  raw.useChunkedEncodingByDefault = false
  reply.headers({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  })
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) raw.setHeader(name, value)
  }
  startNoMore(socket)
  raw.writeHead(200)
  raw.flushHeaders()
  prepare(socket)
  await new Promise((resolve) => setTimeout(resolve, gapMilliseconds))
  return socketSink(socket, {
    of: (frame) => frame.eventStream,
    ping: keepAlive.eventStream,
    end: () => raw.end(),
  })
}

function prepare(socket: Socket): void {
  // Silence is the rule here; the heartbeat finds out who is gone.
  socket.setTimeout(0)
  socket.setNoDelay(true)
  socket.setKeepAlive(true, 60_000)
}
