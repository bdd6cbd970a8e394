import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import type { StartStream } from '../platform/streams/sink.js'
import { openEventStream } from './event-stream.js'
import { goneSink } from './socket-sink.js'
import { webSocketSink } from './web-socket.js'

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
