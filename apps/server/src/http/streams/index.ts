import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { keepAlive } from '../../platform/streams/frame.js'
import type { Sink, StartStream } from '../../platform/streams/sink.js'
import { stopStarting } from '../connections/index.js'
import { closedSink, socketSink } from './sink.js'
import { webSocketSink } from './web-socket.js'

export { acceptWebSockets, screenUpgrades, type Upgrades, wantsWebSocket } from './web-socket.js'

/** The handlers of a route that open a stream for an admitted caller, in either transport. */
export function streamHandlers(
  admit: (request: FastifyRequest, reply: FastifyReply) => Promise<StartStream>,
) {
  const starts = new WeakMap<FastifyRequest, StartStream>()
  return {
    // A stream has no length and no end that HEAD could describe.
    exposeHeadRoute: false,
    // Before the handler, because the handshake comes between them: a refusal must be an ordinary response.
    preHandler: async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      await waitForTurn(reply.raw)
      starts.set(request, startOnce(request, await admit(request, reply)))
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const sink = await openEventStream(reply)
      starts.get(request)?.(sink)
      return reply
    },
    wsHandler: async (peer: WebSocket, request: FastifyRequest): Promise<void> => {
      const sink = webSocketSink(peer, request)
      await gap()
      starts.get(request)?.(sink)
    },
  }
}

/**
 * Resolves when the responses to earlier requests of the connection are sent, or it has closed: until then
 * the response has no connection to write a stream to, and must not hold a slot.
 */
async function waitForTurn(response: ServerResponse): Promise<void> {
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

/** Starts the stream even if the connection has closed: an admitted caller holds a slot until it ends. */
function startOnce({ raw: { socket } }: FastifyRequest, start: StartStream): StartStream {
  let hasBegun = false
  const begin: StartStream = (sink) => {
    socket.off('close', giveUp)
    if (hasBegun) return
    hasBegun = true
    start(sink)
  }
  const giveUp = () => begin(closedSink)
  if (socket.destroyed) giveUp()
  else socket.once('close', giveUp)
  return begin
}

/**
 * Milliseconds between the headers and the first event. Existing clients lose events that arrive in the
 * same chunk as the headers, because they begin to read a moment later.
 */
const gapMilliseconds = 50

async function gap(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, gapMilliseconds))
}

/** Responds with server-sent events; resolves when the first may be sent. */
async function openEventStream(reply: FastifyReply): Promise<Sink> {
  reply.hijack()
  const { raw } = reply
  const socket = raw.socket
  if (socket === null || socket.destroyed) return closedSink
  // Without chunked encoding the connection delimits the stream, so one buffer can be sent to all listeners.
  raw.useChunkedEncodingByDefault = false
  reply.headers({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  })
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) raw.setHeader(name, value)
  }
  stopStarting(socket)
  raw.writeHead(200)
  raw.flushHeaders()
  prepare(socket)
  await gap()
  if (isFromNodeHttp(reply.request.headers)) commentWhileQuiet(socket)
  return socketSink(socket, {
    of: (frame) => frame.eventStream,
    ping: keepAlive.eventStream,
    end: () => raw.end(),
  })
}

function prepare(socket: Socket): void {
  // Streams are mostly silent; the heartbeat detects dead connections.
  socket.setTimeout(0)
  socket.setNoDelay(true)
  socket.setKeepAlive(true, 60_000)
}

/**
 * Milliseconds between two checks of a stream, which gets a comment if it got no byte since the last check: it is never
 * quiet for more than twice this time. Node's HTTP agent sets a timeout of five seconds on a socket between two requests.
 * The library for redirects with which the existing chat client makes its calls ends a socket at that timeout even if
 * the socket is in use again, such as for the stream that follows a call.
 */
const quietCheckMs = 2000
const comment = Buffer.from(':\n\n')

/**
 * Whether a stream is requested with Node's `http` module, which sends no `User-Agent`, as the event source of the
 * existing chat client does. Browsers, `fetch` of Node, and other clients send one.
 */
function isFromNodeHttp(headers: IncomingHttpHeaders): boolean {
  return headers['user-agent'] === undefined
}

/** Sends comments, which clients ignore, while a stream is quiet, until it closes. */
function commentWhileQuiet(socket: Socket): void {
  let seen = socket.bytesWritten
  const timer = setInterval(() => {
    const { bytesWritten, writableLength, writable } = socket
    if (bytesWritten === seen && writableLength === 0 && writable) socket.write(comment)
    seen = bytesWritten
  }, quietCheckMs).unref()
  socket.once('close', () => clearInterval(timer))
}
