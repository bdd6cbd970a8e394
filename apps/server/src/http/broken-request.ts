import { maxHeaderSize } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '@botstead/contract'
import type { Log } from '../platform/telemetry/log.js'
import type { Connections } from './connections.js'
import { refuseRaw } from './raw-answer.js'

interface BrokenRequestOptions {
  log: Log
  newRequestId: () => string
}

/**
 * Responds to what is not valid HTTP with the standard error, if the connection is still writable, and
 * after the answers to earlier requests on it.
 */
export function answerBrokenRequest(
  { log, newRequestId }: BrokenRequestOptions,
  connections: Pick<Connections, 'afterAnswers'>,
) {
  const broken = new WeakSet<Socket>()
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (broken.has(socket)) {
      // The parser complains again about whatever comes afterwards.
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
    connections.afterAnswers(socket, () => {
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
