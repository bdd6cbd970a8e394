import type { IncomingHttpHeaders } from 'node:http'
import type { Operation } from '@botstead/contract'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Authenticator } from '../domain/authenticator.js'
import type { NoteReading } from '../domain/readings.js'
import type { IdempotencyStore } from '../platform/idempotency/store.js'
import type { RateLimiter } from '../platform/security/rate-limit.js'
import type { Log } from '../platform/telemetry/log.js'
import type { Tracing } from '../platform/telemetry/tracing.js'
import { admission, type Throttle } from './admission.js'
import { createForwardedAddresses } from './caller-address.js'
import { type ChatOriginOptions, refuseForeignPages } from './chat-origins.js'
import {
  type ConnectionOptions,
  createConnections,
  isGone,
  respondToBrokenRequest,
  setRequestId,
} from './connections/index.js'
import type { HttpContext } from './context.js'
import { createErrorHandler, maxSegmentLength, pathOf } from './errors.js'
import { setSharedHeaders } from './headers.js'
import { readJsonBodies } from './json-body.js'
import type { RequestMeter } from './metrics.js'
import type { Route } from './mount.js'
import { patternOf, plainPath, refuseUnknownRoutes, servedAddress } from './paths.js'
import { mountRawRoutes, type RawRoute } from './raw-routes.js'
import { mountRawSockets, type RawSocketRoute } from './raw-sockets.js'
import type { SessionCookies } from './session-cookies.js'
import { acceptWebSockets, screenUpgrades } from './streams/index.js'
import { createRequestTracer } from './tracing.js'
import { compileResponseValidator, createValidator } from './validation.js'

export interface AppOptions {
  routes: readonly Route[]
  rawRoutes?: readonly RawRoute[]
  rawSockets?: readonly RawSocketRoute[]
  authenticator: Authenticator
  /** Undefined where browsers cannot sign in. */
  sessionCookies?: SessionCookies | undefined
  /** Records what people read of others. */
  noteReading?: NoteReading
  idempotency: IdempotencyStore
  rateLimiter: RateLimiter | undefined
  throttle: Throttle
  exemptLoopback: boolean
  allowance: number
  log: Log
  newRequestId: () => string
  /** Looks at the headers of every request, to say which setting a proxy needs. */
  warnAboutProxy?: ((headers: IncomingHttpHeaders) => void) | undefined
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. */
  trustedProxies: readonly string[]
  bodyLimits: HttpContext['bodyLimits']
  /** Counts responses; undefined when metrics are off. */
  meter: RequestMeter | undefined
  /** Makes traces; undefined when they are off. */
  tracing?: Tracing | undefined
  /** Origins that browsers may call from; undefined allows any. */
  allowedOrigins: readonly string[] | undefined
  /** Allowed origins of chats; undefined if there are no chats. */
  chatOrigins?: Omit<ChatOriginOptions, 'admitUnmatched'>
  /** Mounts what is served besides the API. */
  mountOthers?: (app: FastifyInstance, context: Pick<HttpContext, 'admitUnmatched'>) => void
  /** Checks every response against its contract; on in tests. */
  checkResponses: boolean
  /** Limits of every connection that differ from the defaults. */
  connections?: Partial<ConnectionOptions>
}

/** Maximum time without a byte on a connection, unless the server works on a response. */
const idleMilliseconds = 60_000

/** The HTTP application: every route of the contract, without a listening socket. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const handleError = createErrorHandler(options.log)
  // A large upload may take long, but a connection without any progress is closed.
  const connections = createConnections({ idleMilliseconds, ...options.connections })
  const admissions = admission({ ...options, sessionCookies: options.sessionCookies })
  const forward = createForwardedAddresses(options.trustedProxies)
  const app = Fastify({
    // Failures are logged by the error handler and requests by the hook below, both with the request
    // id; a child logger per request would cost more than the whole validation.
    logger: false,
    genReqId: options.newRequestId,
    requestIdHeader: false,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    bodyLimit: options.bodyLimits.small.bytes,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    serverFactory: connections.serverFactory,
    // Malformed addresses fail before any hook runs.
    frameworkErrors: (error, request, reply) => {
      setRequestId(reply, request.id)
      upgrades.endAfterResponse(request, reply)
      if (isGone(request.raw)) return handleError(error, request, reply)
      forward(request)
      admissions.admitUnmatched(request, reply, (limited) =>
        handleError(limited ?? error, request, reply),
      )
    },
    clientErrorHandler: respondToBrokenRequest(options, connections),
    rewriteUrl: ({ method = 'GET', url = '/' }) => servedAddress(method, url),
    // Unused, because routes serialize their responses; the compiler of the framework takes long to load.
    schemaController: { compilersFactory: { buildSerializer: () => () => JSON.stringify } },
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      maxParamLength: maxSegmentLength,
      // Queries are read by the schema of their operation; see query.ts.
      querystringParser: () => ({}),
    },
  })

  // Without a free descriptor a connection cannot be accepted; without this listener the process would end.
  app.server.once('listening', () => {
    app.server.on('error', (err) => options.log.warn({ err }, 'a connection was not accepted'))
  })

  const { newRequestId } = options
  const rawSockets = options.rawSockets ?? []
  const upgrades = screenUpgrades(app, {
    newRequestId,
    connections,
    idleMilliseconds,
    socketsAt: socketAddresses(options.routes, rawSockets),
  })

  app.setValidatorCompiler(createValidator)
  app.setErrorHandler((error, request, reply) => {
    const { span } = request
    if (span === undefined) return handleError(error, request, reply)
    return span.run(() => handleError(error, request, reply))
  })
  app.decorateRequest('actor', undefined)
  app.decorateRequest('principal', '')
  app.decorateRequest('admittedAt', 0)
  app.decorateRequest('pageOrigin', undefined)
  app.decorateRequest('span', undefined)
  const context: HttpContext = {
    ...admissions,
    noteReading: options.noteReading,
    idempotency: options.idempotency,
    sessionCookies: options.sessionCookies,
    holderOf: (actor) => options.authenticator.holderOf(actor),
    bodyLimits: options.bodyLimits,
    readJson: readJsonBodies(app),
    tracer: options.tracing && createRequestTracer(options.tracing),
    observe: (operation) => options.meter?.of(operation),
    checkResponses: options.checkResponses ? checkResponses : () => undefined,
  }
  app.addHook('onRequest', (request, reply, done) => {
    if (isGone(request.raw)) {
      // The client is gone: there is no address to count and no connection to respond on.
      reply.hijack()
      request.raw.socket.destroy()
      return
    }
    options.warnAboutProxy?.(request.headers)
    upgrades.endAfterResponse(request, reply)
    setRequestId(reply, request.id)
    done()
  })
  logRequests(app, options.log)

  const { chatOrigins } = options
  if (chatOrigins) {
    refuseForeignPages(app, { ...chatOrigins, admitUnmatched: context.admitUnmatched })
  }
  setSharedHeaders(app, options.allowedOrigins)

  await app.register(async (streams) => {
    streams.removeAllContentTypeParsers()
    streams.addContentTypeParser('*', (_request, _payload, done) => done(null))
    for (const route of options.routes) if (route.operation.upload) route.register(streams, context)
  })
  await app.register(async (streams) => {
    await acceptWebSockets(streams, upgrades.servers.streams, newRequestId)
    for (const route of options.routes) if (isStream(route)) route.register(streams, context)
  })
  for (const route of options.routes) {
    if (!route.operation.upload && !isStream(route)) route.register(app, context)
  }

  await mountRawSockets(app, context, rawSockets, upgrades, newRequestId, options.log)
  await mountRawRoutes(app, context, options.rawRoutes ?? [])
  options.mountOthers?.(app, context)
  await app.register(async (unknown) => {
    unknown.addHook('onRequest', context.admitUnmatched)
    refuseUnknownRoutes(unknown, options.routes, options.meter)
  })
  return app
}

/** Logs successful responses at debug level only: on the hot path a log line costs more than the work. */
function logRequests(app: FastifyInstance, log: Log): void {
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

function isStream({ operation }: Route): boolean {
  return operation.response.kind === 'stream'
}

/** Returns a function that recognises addresses at which WebSockets can be opened. */
function socketAddresses(
  routes: readonly Route[],
  rawSockets: readonly RawSocketRoute[],
): (url: string) => 'streams' | 'sockets' | undefined {
  const streams = routes.filter(isStream).map(({ operation }) => patternOf(operation))
  const sockets = rawSockets.flatMap(({ paths }) =>
    paths.map((path) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`)),
  )
  return (url) => {
    const path = plainPath(servedAddress('GET', url).split('?', 1)[0] ?? '/')
    if (streams.some((pattern) => pattern.test(path))) return 'streams'
    return sockets.some((pattern) => pattern.test(path)) ? 'sockets' : undefined
  }
}

function checkResponses(operation: Operation): ((response: unknown) => void) | undefined {
  if (operation.response.kind !== 'json') return undefined
  const validate = compileResponseValidator(operation.response.schema)
  return (response) => {
    const complaint = validate(JSON.parse(JSON.stringify(response)))
    if (complaint) throw new Error(`${operation.id} violates its contract: ${complaint}`)
  }
}
