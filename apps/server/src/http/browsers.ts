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
 * Lets scripts of web pages call. Nothing here is opened by a cookie, so that a page can do no more
 * than whoever has its token or key; but clients ask browsers to send credentials along to the
 * operations, and browsers then want to be told that this is welcome.
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
    if (isAllowed && !isForeign(request)) {
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

/** Whether an address answers browsers itself. */
function isForeign({ routeOptions: { config } }: FastifyRequest): boolean {
  return 'cors' in config && config.cors === false
}

/** What clients call with their own settings; addresses of contents and pages are called plainly. */
function isOperation(url: string): boolean {
  return /^\/+(?:v1|chat)\//.test(url)
}
