import { maxHeaderSize, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, type Operation } from '@botstead/contract'
import cors from '@fastify/cors'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Authenticator } from '../platform/authenticator.js'
import type { IdempotencyStore } from '../platform/idempotency/store.js'
import type { Log } from '../platform/log.js'
import type { RateLimiter } from '../platform/rate-limit.js'
import { admission } from './admission.js'
import { type ConnectionOptions, type Connections, createConnections } from './connections.js'
import type { HttpContext } from './context.js'
import { createErrorHandler, errorBody, maxSegmentLength, pathOf } from './errors.js'
import { readJsonBodies } from './json-body.js'
import type { RequestMeter } from './metrics.js'
import type { Route } from './mount.js'
import { announceResumableUploads, resumableUploadHeaders } from './resumable-uploads.js'
import type { Throttle } from './throttle.js'
import { compileAnswerValidator, createValidator } from './validation.js'
import { acceptUpgrades } from './web-socket.js'
import { mountWebhooks, type WebhookReceiver } from './webhooks.js'

export interface AppOptions {
  routes: readonly Route[]
  authenticator: Authenticator
  idempotency: IdempotencyStore
  rateLimiter: RateLimiter | undefined
  throttle: Throttle
  exemptLoopback: boolean
  allowance: number
  log: Log
  newRequestId: () => string
  /** Addresses and networks of proxies whose X-Forwarded-For is believed. */
  trustedProxies: readonly string[]
  limits: HttpContext['limits']
  /** Counts answers; undefined when nobody asks for the counts. */
  meter: RequestMeter | undefined
  /** Origins that browsers may call from; undefined allows any. */
  allowedOrigins: readonly string[] | undefined
  /** Who answers at the public addresses of installations; nobody if left out. */
  webhooks?: WebhookReceiver
  /** Checks every answer against its contract: on in tests. */
  checkAnswers: boolean
  /** What is bounded of every connection, where it is not the usual. */
  connections?: Partial<ConnectionOptions>
}

/** Longest time without a byte on an open request. */
const idleMilliseconds = 60_000

/** The HTTP application: every route of the contract, without a listening socket. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const handleError = createErrorHandler(options.log)
  // A large upload may take long, but a connection on which nothing moves is given up.
  const connections = createConnections({ idleMilliseconds, ...options.connections })
  const app = Fastify({
    // Failures are logged by the error handler and requests by the hook below, both with the request
    // id; a child logger per request would cost more than the whole validation.
    logger: false,
    genReqId: options.newRequestId,
    requestIdHeader: false,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    bodyLimit: options.limits.smallBody,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    serverFactory: connections.serverFactory,
    // Broken addresses fail before any hook runs.
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id)
      handleError(error, request, reply)
    },
    clientErrorHandler: answerBrokenRequest(options, connections),
    rewriteUrl: ({ url = '/' }) => encodeListenPath(url),
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: maxSegmentLength,
      // Queries are read by the schema of their operation; see query.ts.
      querystringParser: () => ({}),
    },
  })

  app.setValidatorCompiler(createValidator)
  app.setErrorHandler(handleError)
  app.decorateRequest('actor', undefined)
  app.decorateRequest('principal', '')
  readJsonBodies(app)
  logRequests(app, options.log)

  announceResumableUploads(app)
  await app.register(cors, {
    origin: options.allowedOrigins === undefined ? true : [...options.allowedOrigins],
    credentials: true,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: [
      'x-request-id',
      'ratelimit-limit',
      'ratelimit-remaining',
      'ratelimit-reset',
      'retry-after',
      'etag',
      'content-range',
      'content-disposition',
      'idempotent-replayed',
      'x-search-degraded',
      'repr-digest',
      ...resumableUploadHeaders,
    ],
    maxAge: 600,
    strictPreflight: false,
    // As the interface says of every OPTIONS; some clients take nothing else for a success.
    optionsSuccessStatus: 200,
  })

  const context: HttpContext = {
    admit: admission(options),
    idempotency: options.idempotency,
    limits: options.limits,
    observe: (operation) => options.meter?.of(operation),
    checkAnswers: options.checkAnswers ? checkAnswers : () => undefined,
  }
  await app.register(async (streams) => {
    streams.removeAllContentTypeParsers()
    streams.addContentTypeParser('*', (_request, _payload, done) => done(null))
    for (const route of options.routes) if (route.operation.upload) route.register(streams, context)
  })
  for (const route of options.routes) if (!route.operation.upload) route.register(app, context)

  if (options.webhooks) await mountWebhooks(app, context, options.webhooks)

  refuseUnknownRoutes(app, options.routes, options.meter)
  acceptUpgrades(app)
  return app
}

/**
 * Clients put the id of a conversation into the address of its stream as it is, also when it holds a
 * slash. Everywhere else they encode it.
 */
function encodeListenPath(url: string): string {
  if (!url.includes('/listen')) return url
  const parts = /^(\/+chat\/+[^/?]+\/+conversations\/+)([^?]+?)(\/+listen\/*(?:\?.*)?)$/.exec(url)
  const [, before, id, after] = parts ?? []
  return id?.includes('/') ? `${before}${id.replaceAll('/', '%2F')}${after}` : url
}

/**
 * What is not even HTTP gets the standard body too, as far as the connection still takes it, and after
 * the answers to what came before it on the same connection.
 */
function answerBrokenRequest(options: AppOptions, connections: Connections) {
  const broken = new WeakSet<Socket>()
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy(error)
      return
    }
    // The parser complains again about whatever comes afterwards.
    if (broken.has(socket)) return
    broken.add(socket)
    const refusal = refusalOf(error.code)
    const id = options.newRequestId()
    options.log.info({ requestId: id, reason: refusal.message }, 'request refused')
    connections.afterAnswers(socket, () => {
      if (socket.writable) socket.end(answerOf(refusal, id))
    })
  }
}

function answerOf(refusal: ApiError, id: string): string {
  const body = JSON.stringify(errorBody(refusal, id))
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    'Connection: close',
    `X-Request-Id: ${id}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
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

/** Answers that succeed are logged at debug level only: on the hot path a line costs more than the work. */
function logRequests(app: FastifyInstance, log: Log): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  if (!log.isLevelEnabled('debug')) return
  app.addHook('onResponse', (request, reply, done) => {
    log.debug(
      {
        requestId: request.id,
        method: request.method,
        path: pathOf(request),
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    )
    done()
  })
}

/** Clients know operations that are not here yet, and keys with a slash that was not encoded. */
const whatThereIs =
  'The operations of this version are listed at /docs; a / inside an id or key is written %2F.'

/** A known path with another method is 405 and says which methods it has; an unknown path is 404. */
function refuseUnknownRoutes(
  app: FastifyInstance,
  routes: readonly Route[],
  meter: RequestMeter | undefined,
): void {
  const known = routes.map(({ operation }) => ({
    method: operation.method,
    pattern: new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }))
  app.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0] ?? '/'
    const plain = path.replaceAll(/\/{2,}/g, '/').replace(/(.)\/$/, '$1')
    const methods = known.filter(({ pattern }) => pattern.test(plain)).map(({ method }) => method)
    meter?.unknown(methods.length === 0 ? 404 : 405)
    if (methods.length === 0) {
      throw new ApiError('ResourceNotFound', `There is nothing at ${path}. ${whatThereIs}`)
    }
    const allowed = [...new Set(methods)].join(', ')
    reply.header('allow', allowed)
    throw new ApiError(
      'MethodNotFound',
      `${path} knows ${allowed}, not ${request.method}. ${whatThereIs}`,
    )
  })
}

function checkAnswers(operation: Operation): ((answer: unknown) => void) | undefined {
  if (operation.result === undefined) return undefined
  const validate = compileAnswerValidator(operation.result)
  return (answer) => {
    const complaint = validate(JSON.parse(JSON.stringify(answer)))
    if (complaint) throw new Error(`${operation.id} answers against its contract: ${complaint}`)
  }
}
