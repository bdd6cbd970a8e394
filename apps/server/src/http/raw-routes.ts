import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { callerAddress } from './caller-address.js'
import type { HttpContext } from './context.js'

/**
 * Addresses outside of the contract, at which requests of every method are passed on as received. The
 * slice that serves them defines bodies and responses, CORS preflights included.
 */
export interface RawRoute {
  /** Paths with `:name` for one segment, and `*` at the end for any rest. */
  paths: readonly string[]
  /** Maximum size in bytes of a body. */
  bodyLimit: number
  handle(request: RawRequest): Promise<RawResponse>
}

/** A request to a raw route. */
export interface RawRequest {
  method: string
  /** Path and query as the client sent them: neither decoded nor normalized. */
  url: string
  /** The values of a repeated header are joined; without cookies. */
  headers: Record<string, string>
  /** Undefined if it is empty. */
  body: Buffer | undefined
  /** The id under which the log and the header `x-request-id` identify the request. */
  requestId: string
  /** Network address of the caller, as limits count it. */
  caller: string
}

/** The response of a raw route, which is sent as it is, except for headers that reach beyond its address. */
export interface RawResponse {
  status: number
  headers: Record<string, string | string[]>
  body: Buffer
}

/** Mounts raw routes. Their requests count against the address that they come from. */
export async function mountRawRoutes(
  app: FastifyInstance,
  { admitUnmatched, tracer }: Pick<HttpContext, 'admitUnmatched' | 'tracer'>,
  routes: readonly RawRoute[],
): Promise<void> {
  await app.register(async (raw) => {
    raw.removeAllContentTypeParsers()
    raw.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    for (const { paths, bodyLimit, handle } of routes) {
      for (const url of paths) {
        const trace = tracer?.ofRoute(url)
        const answer = async (request: FastifyRequest, reply: FastifyReply) => {
          const work = () => handle(toRawRequest(request))
          if (trace === undefined) return await work()
          trace.begin(request, reply)
          return await trace.continue(request, work)
        }
        raw.route({
          method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
          url,
          bodyLimit,
          exposeHeadRoute: false,
          config: { isUpload: false, cors: false },
          onRequest: admitUnmatched,
          handler: async (request, reply) => {
            const response = await answer(request, reply)
            const headers = {
              ...withoutOriginWide(response.headers),
              ...sandboxed(response),
              'x-content-type-options': 'nosniff',
            }
            return reply.code(response.status).headers(headers).send(response.body)
          },
        })
      }
    }
  })
}

function toRawRequest(request: FastifyRequest): RawRequest {
  const { method, raw, body, id } = request
  return {
    method,
    url: raw.url ?? '/',
    headers: textHeaders(request),
    body: body instanceof Buffer && body.length > 0 ? body : undefined,
    requestId: id,
    caller: callerAddress(request),
  }
}

function textHeaders({ headers }: FastifyRequest): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || name === 'cookie'
        ? []
        : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
}

/**
 * Headers that act on the whole host, and so on the dashboard and on other programs at the same host, which share
 * cookies with it. Those of requests are held back too: whoever had the session of a person could act for that person.
 */
const originWide = new Set([
  'set-cookie',
  'set-cookie2',
  'clear-site-data',
  'strict-transport-security',
  'public-key-pins',
  'alt-svc',
  'nel',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
])

function withoutOriginWide(headers: RawResponse['headers']): RawResponse['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !originWide.has(name)))
}

/**
 * Pages of others get an origin of their own: in that of the server, their scripts could do all that a person
 * may do who is signed in. Except for that, they may do what they could without.
 */
const sandbox = [
  'sandbox',
  'allow-downloads',
  'allow-forms',
  'allow-modals',
  'allow-popups',
  'allow-popups-to-escape-sandbox',
  'allow-scripts',
  'allow-top-navigation',
].join(' ')

/** A policy in addition to those of the response: browsers apply all. */
function sandboxed({ headers }: RawResponse): RawResponse['headers'] {
  const name = 'content-security-policy'
  return { [name]: [headers[name] ?? [], sandbox].flat() }
}
