import cors from '@fastify/cors'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { resumableUploadHeaders } from './resumable-uploads.js'

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
  ...resumableUploadHeaders,
].join(', ')

/**
 * Allows scripts of web pages to call the server. It uses no cookies, so a page can do only what its
 * token or key allows. Existing clients make browsers send credentials to the operations, though, and
 * browsers then require a header that permits it.
 * @param allowedOrigins undefined allows any
 */
export async function admitBrowsers(
  app: FastifyInstance,
  allowedOrigins: readonly string[] | undefined,
): Promise<void> {
  app.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers
    const isAllowed =
      origin !== undefined && (allowedOrigins === undefined || allowedOrigins.includes(origin))
    if (isAllowed && !hasOwnCors(request)) {
      reply.header('access-control-expose-headers', exposedHeaders)
      if (isOperation(request.url)) reply.header('access-control-allow-credentials', 'true')
    }
    done()
  })
  await app.register(cors, {
    origin: allowedOrigins === undefined ? true : [...allowedOrigins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    maxAge: 600,
    strictPreflight: false,
    // As the interface says of every OPTIONS; some clients take nothing else for a success.
    optionsSuccessStatus: 200,
  })
}

/** Whether a route sets its own CORS headers. */
function hasOwnCors({ routeOptions: { config } }: FastifyRequest): boolean {
  return 'cors' in config && config.cors === false
}

/** Operations, which clients call with credentials; addresses of contents and pages are not. */
function isOperation(url: string): boolean {
  return /^\/+(?:v1|chat)\//.test(url)
}
