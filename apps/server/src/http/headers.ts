import { allOperations, type Operation, tus } from '@botstead/contract'
import cors from '@fastify/cors'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'

/** Response headers that a script on a web page must be able to read. */
const exposedHeaders = [
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
  'location',
  'tus-resumable',
  'tus-version',
  'tus-extension',
  'tus-checksum-algorithm',
  'upload-offset',
  'upload-length',
  'upload-expires',
].join(', ')

/** First path segments that clients call with credentials; those of contents and pages are not among them. */
const credentialPaths = new RegExp(
  `^/+(?:${firstSegments(({ auth }) => auth !== 'public' && auth !== 'signature').join('|')})/`,
)
const tusPaths = new RegExp(
  `^/(?:${firstSegments(({ protocol }) => protocol === 'tus').join('|')})/`,
)

function firstSegments(test: (operation: Operation) => boolean): string[] {
  const segments = allOperations.filter(test).map(({ path }) => path.split('/')[1] ?? '')
  return [...new Set(segments)]
}

/**
 * Sets the headers that follow from the address of a request, also on refusals: CORS, and
 * the version of tus. Must be called before other hooks respond to `OPTIONS`.
 *
 * Scripts of web pages may call the server. It uses no cookies, so a page can do only what its token or
 * key allows. However, existing clients make browsers send credentials to the operations, and browsers then
 * require a header that permits it.
 * @param allowedOrigins undefined allows any
 */
export function setSharedHeaders(
  app: FastifyInstance,
  allowedOrigins: readonly string[] | undefined,
): void {
  const setOwnHeaders: SetHeaders = (request, reply) => {
    if (tusPaths.test(request.url)) setTusHeaders(request, reply)
    const { origin } = request.headers
    const isAllowed =
      origin !== undefined && (allowedOrigins === undefined || allowedOrigins.includes(origin))
    if (isAllowed && request.routeOptions.config.cors !== false) {
      reply.header('access-control-expose-headers', exposedHeaders)
      if (credentialPaths.test(request.url)) {
        reply.header('access-control-allow-credentials', 'true')
      }
    }
  }

  const corsOptions = {
    origin: allowedOrigins === undefined ? true : [...allowedOrigins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    maxAge: 600,
    strictPreflight: false,
    // The API documents 200 for every OPTIONS; some clients accept no other status.
    optionsSuccessStatus: 200,
  }
  // Called and not registered, because a registered plugin gets an application of its own.
  cors(forPages(app, setOwnHeaders), corsOptions, (error) => {
    if (error) throw error
  })
}

type SetHeaders = (request: FastifyRequest, reply: FastifyReply) => void

/**
 * Wraps an application for the CORS plugin, so that the hook of the plugin runs only for requests of web pages
 * and for `OPTIONS`. Of its headers the others need only `Vary`, where the response can be cached; it is set here.
 * @param setOwnHeaders runs before the hook, for all requests
 */
function forPages(app: FastifyInstance, setOwnHeaders: SetHeaders): FastifyInstance {
  const addHook = (_name: 'onRequest', hook: onRequestHookHandler) =>
    app.addHook('onRequest', function onlyForPages(request, reply, done) {
      setOwnHeaders(request, reply)
      const { method } = request
      if (request.headers.origin !== undefined || method === 'OPTIONS') {
        return hook.call(this, request, reply, done)
      }
      // A cache must not give this response to a page, because it lacks the header that permits the page to read it.
      const isCacheable = method === 'GET' || method === 'HEAD'
      if (isCacheable && request.routeOptions.config.cors !== false) reply.header('vary', 'Origin')
      done()
    })
  return Object.create(app, { addHook: { value: addHook } })
}

/** Sets the version of tus for an address, and the supported extensions on `OPTIONS`. */
function setTusHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('tus-resumable', tus.version)
  if (request.method === 'OPTIONS' || request.headers['tus-resumable'] !== undefined) {
    reply.header('tus-version', tus.version)
  }
  if (request.method === 'OPTIONS') {
    reply.header('tus-extension', tus.extensions.join(','))
    reply.header('tus-checksum-algorithm', tus.checksumAlgorithms.join(','))
  }
}
