import { maxHeaderSize, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '@botstead/contract'
import type { Log } from '../../platform/telemetry/log.js'
import type { Connections } from './connections.js'

/** The standard error body. */
export function errorBody(error: ApiError, requestId: string) {
  return {
    id: requestId,
    code: error.status,
    type: error.type,
    message: error.message,
    ...(error.metadata && { metadata: error.metadata }),
  }
}

/** Milliseconds that a client has to read the last bytes. */
const closeMilliseconds = 2000

/** Sends the standard error body where no response object exists, and closes the connection. */
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

/** Closes a connection after some last bytes, whatever the client does. */
export function endConnection(socket: Socket, last = ''): void {
  socket.end(last)
  // Further input is discarded: closing with unread bytes would reset the connection and lose the last ones.
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), closeMilliseconds)
  socket.once('close', () => clearTimeout(timer))
}

interface BrokenRequestOptions {
  log: Log
  newRequestId: () => string
}

/**
 * Responds to invalid HTTP with the standard error, if the connection is still writable, and
 * after the responses to earlier requests on it.
 */
export function respondToBrokenRequest(
  { log, newRequestId }: BrokenRequestOptions,
  connections: Pick<Connections, 'afterResponses'>,
) {
  const broken = new WeakSet<Socket>()
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (broken.has(socket)) {
      // The parser fails again on any further input.
      if (error.code === 'ECONNRESET') socket.destroy()
      return
    }
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    broken.add(socket)
    const refusal = refusalOf(error.code)
    const requestId = newRequestId()
    log.info({ requestId, reason: refusal.message }, 'request refused')
    connections.afterResponses(socket, () => {
      if (socket.writable) refuseRaw(socket, refusal, requestId)
    })
  }
}

function refusalOf(code: string | undefined): ApiError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError(
        'PayloadTooLarge',
        `The address and the headers must have less than ${maxHeaderSize} bytes together. The operator of the server can raise that with NODE_OPTIONS=--max-http-header-size.`,
      )
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError(
        'OperationTimeout',
        'The headers of the request did not arrive in time: send it again.',
        { status: 408 },
      )
    default:
      return new ApiError('InvalidPayload', `The request is not valid HTTP (${code}).`)
  }
}
