import { ApiError, allOperations, type ErrorType } from '@botstead/contract'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { BlobStoreAwayError } from '../platform/blobs/blob-store.js'
import {
  DatabaseBusyError,
  DatabaseFullError,
  DatabaseUnavailableError,
  InvalidPageTokenError,
} from '../platform/db/errors.js'
import type { Log } from '../platform/telemetry/log.js'
import { errorBody, isGone } from './connections/index.js'
import { describeViolation } from './validation.js'

/** Characters of an id or key in a path. */
export const maxSegmentLength = 2048

/** Failures of the HTTP layer itself, by Fastify's error code. */
const frameworkErrors: Record<string, { type: ErrorType; message: string }> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    type: 'UnsupportedMediaType',
    message: 'The header Content-Type must be application/json.',
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    type: 'InvalidPayload',
    message: 'The body is not as long as the header Content-Length says.',
  },
  FST_ERR_BAD_URL: {
    type: 'InvalidPayload',
    message: 'The path is not valid: a percent-encoding is broken.',
  },
  FST_ERR_MAX_PARAM_LENGTH: {
    type: 'InvalidPayload',
    message: `A segment of the path has more than ${maxSegmentLength} characters.`,
  },
}

/** Converts anything thrown into the catalogue error that the caller may see. */
function toApiError(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof InvalidPageTokenError) {
    return new ApiError('InvalidQuery', `query.nextToken is not valid here: ${error.message}.`, {
      cause: error,
      metadata: { in: 'query', field: 'nextToken' },
    })
  }
  if (error instanceof DatabaseFullError) {
    const message =
      'The server has no room left, so nothing of this was stored: send it again later.'
    return new ApiError('Internal', message, { status: 507, cause: error })
  }
  if (error instanceof DatabaseUnavailableError || error instanceof DatabaseBusyError) {
    return notAvailable('database', error)
  }
  if (error instanceof BlobStoreAwayError) return notAvailable('store of contents', error)
  if (isFastifyError(error)) {
    if (error.validation) return describeViolation(error.validation, error.validationContext)
    if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return bodyTooLarge(request, error)
    const known = frameworkErrors[error.code]
    if (known) return new ApiError(known.type, known.message, { cause: error })
    if (error.statusCode !== undefined && error.statusCode < 500) {
      return new ApiError('InvalidPayload', error.message, { cause: error })
    }
  }
  return new ApiError('Internal', 'The server failed. Its log has the cause under this id.', {
    cause: error,
  })
}

function bodyTooLarge({ routeOptions }: FastifyRequest, cause: unknown): ApiError {
  const { bodyLimit, config } = routeOptions
  const setting = config.bodySetting
  const remedy = setting === undefined ? '' : ` The operator of the server can raise ${setting}.`
  return new ApiError(
    'PayloadTooLarge',
    `The body must have at most ${bodyLimit} bytes here.${remedy}`,
    { cause, metadata: { in: 'body', maximum: bodyLimit, ...(setting && { setting }) } },
  )
}

function notAvailable(part: string, cause: Error): ApiError {
  const message = `The ${part} does not respond, so this was not done or its outcome is unknown: try again in a moment.`
  return new ApiError('Internal', message, {
    status: 503,
    cause,
    metadata: { retryAfterSeconds: 5 },
  })
}

/** The one place where an error becomes a response and a log line, both under the request's id. */
export function createErrorHandler(log: Log) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    if (isGone(request.raw) && isConnectionLoss(error)) {
      log.debug(
        { ...factsOf(request), reason: error.message },
        'client disconnected before the response',
      )
      // The client would not read a response, and none is counted.
      reply.hijack()
      return
    }
    const apiError = toApiError(error, request)
    logFailure(log, apiError, request)
    const retryAfter = apiError.metadata?.retryAfterSeconds
    if (typeof retryAfter === 'number') {
      reply.header('retry-after', String(retryAfter))
      // Clients read one header or the other, and must not wait longer than necessary.
      reply.header('ratelimit-reset', String(retryAfter))
    }
    // The unread rest of a body would be parsed as the next request. Uploads handle theirs themselves.
    if (apiError.status === 413 && !request.routeOptions.config.isUpload) {
      reply.header('connection', 'close')
    }
    return reply.code(apiError.status).send(errorBody(apiError, request.id))
  }
}

function logFailure(log: Log, error: ApiError, request: FastifyRequest): void {
  const facts = { ...factsOf(request), status: error.status, type: error.type }
  const reason = error.message
  // A server that stops refuses new streams with 503 too, without a cause: nothing has failed.
  const isRefused = error.status < 500 || (error.status === 503 && error.cause === undefined)
  if (isRefused) log.info({ ...facts, reason }, 'request refused')
  else if (error.status === 507 || error.status === 503) {
    // The response contains what the caller needs; the operator needs the cause.
    const { cause } = error
    log.error(
      { ...facts, reason: cause instanceof Error ? cause.message : reason },
      'request failed',
    )
  } else if (error.type === 'Internal') {
    log.error({ ...facts, err: error.cause ?? error }, 'request failed')
  } else {
    // A failure of the environment, such as a full disk or a peer that is down: a stack does not help.
    const { cause } = error
    // The cause is for the operator only: the caller may be anyone.
    const detail = cause instanceof Error && cause.message !== reason && { detail: cause.message }
    log.warn({ ...facts, reason, ...detail }, 'request failed')
  }
}

function factsOf(request: FastifyRequest) {
  return { requestId: request.id, method: request.method, path: pathOf(request) }
}

/** Codes with which reads and writes fail after the connection has closed. */
const connectionLossCodes = new Set<unknown>([
  'ABORT_ERR',
  'ECONNABORTED',
  'ECONNRESET',
  'EPIPE',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_WRITE_AFTER_END',
])

function isConnectionLoss(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  return error.name === 'AbortError' || ('code' in error && connectionLossCodes.has(error.code))
}

/** First segments of paths whose next segment is a credential, as the contract declares them. */
const beforeToken = allOperations
  .filter(({ auth }) => auth === 'signature')
  .flatMap(({ path }) => /^\/([^/]+)\/\{token\}/.exec(path)?.[1] ?? [])
const secretSegment = new RegExp(`^(/+(?:${[...new Set(beforeToken)].join('|')})/+)[^/]+`)

/** The path as it may be logged: without the query and without credentials. */
export function pathOf(request: FastifyRequest): string {
  const [path = ''] = request.url.split('?', 1)
  return path.replace(secretSegment, '$1[redacted]')
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
}
