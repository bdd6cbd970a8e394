import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ApiError } from '@botstead/contract'
import { errorBody } from './errors.js'

/** Milliseconds that a client has to read the last bytes. */
const farewellMilliseconds = 2000

/** Sends the standard error body where there is no response to send it with, and ends the connection. */
export function refuseRaw(
  socket: Socket,
  refusal: ApiError,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = JSON.stringify(errorBody(refusal, requestId))
  const all = {
    connection: 'close',
    'x-request-id': requestId,
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const status = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n`
  endConnection(socket, `${status}${lines.join('')}\r\n${body}`)
}

/** Ends a connection after some last bytes, whatever the client does. */
export function endConnection(socket: Socket, last = ''): void {
  socket.end(last)
  // What still arrives is dropped: closing with unread bytes would reset the connection and lose the last ones.
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), farewellMilliseconds)
  socket.once('close', () => clearTimeout(timer))
}
