import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Milliseconds between two looks at a stream, which gets a comment if it got no byte since the last one: so it is never
 * quiet for more than four seconds. Node's HTTP agent gives its sockets a timeout of five seconds for the time between
 * two requests; a library for redirects, which the existing chat client uses for its calls, ends a socket at that
 * timeout whatever it is used for, also for the stream that comes after such a call.
 */
const lookMs = 2000
const comment = Buffer.from(':\n\n')

/**
 * Whether a stream is requested with Node's `http` module, which names no program, as the event source of the existing
 * chat client does. Browsers, `fetch` of Node, and other clients name themselves.
 */
export function isFromNodeHttp(headers: IncomingHttpHeaders): boolean {
  return headers['user-agent'] === undefined
}

/** Sends comments, which clients ignore, while a stream is quiet, until it closes. */
export function sendComments(socket: Socket): void {
  let seen = socket.bytesWritten
  const timer = setInterval(() => {
    const { bytesWritten, writableLength, writable } = socket
    if (bytesWritten === seen && writableLength === 0 && writable) socket.write(comment)
    seen = bytesWritten
  }, lookMs).unref()
  socket.once('close', () => clearInterval(timer))
}
