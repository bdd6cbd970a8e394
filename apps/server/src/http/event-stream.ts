import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import { keepAlive } from '../platform/streams/frame.js'
import type { Sink } from '../platform/streams/sink.js'
import { startNoMore } from './pipeline.js'
import { goneSink, socketSink } from './socket-sink.js'

/**
 * Milliseconds between the headers and the first event. What comes in one piece with the headers is
 * lost by the clients of the interface, which begin to read a moment later.
 */
const gapMilliseconds = 50

/** Answers with server-sent events; resolves when the first may be sent. */
export async function openEventStream(reply: FastifyReply): Promise<Sink> {
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
