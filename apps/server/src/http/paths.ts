import { ApiError, allOperations, type Operation } from '@botstead/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { withoutEndSlashes } from '../domain/addresses.js'
import type { RequestMeter } from './metrics.js'
import type { Route } from './mount.js'

/** Returns a pattern for the paths of an operation as {@link plainPath} writes them. */
export function patternOf({ path }: Operation): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

/** A path as the router reads it. */
export function plainPath(path: string): string {
  return path.replaceAll(/\/{2,}/g, '/').replace(/(.)\/$/, '$1')
}

interface UnencodedParam {
  /** The part before the parameter. Each part ends where the next begins, so that no text is read twice. */
  prefix: RegExp
  /** The segment that follows the parameter, and ends the path. */
  suffix: string
}

const unencodedParams: readonly UnencodedParam[] = allOperations.flatMap(
  ({ path, unencodedParam }) => {
    if (unencodedParam === undefined) return []
    const [before = '', after = ''] = path.split(`{${unencodedParam}}`)
    const prefix = before.replaceAll('/', '/+').replaceAll(/\{\w+\}/g, '[^/?]+')
    return [{ prefix: new RegExp(`^${prefix}`), suffix: after.slice(1) }]
  },
)

/** Operations of the web chat that have an address of their own, because their shapes differ. */
const webchatOperations = allOperations
  .filter(({ path }) => path.startsWith('/webchat/'))
  .map((operation) => ({ method: operation.method, pattern: patternOf(operation) }))

const chatPatterns = allOperations
  .filter(({ path }) => path.startsWith('/chat/{webhookId}/'))
  .map(patternOf)

/**
 * The address at which a request is served: every operation of a chat address is served at the web chat
 * address too, unless that has its own.
 */
export function servedAddress(method: string, url: string): string {
  const address = encodeSlashes(url)
  if (!/^\/+webchat\//.test(address)) return address
  const path = plainPath(address.split('?', 1)[0] ?? '/')
  const isOwn = webchatOperations.some(
    (own) => own.method === (method === 'HEAD' ? 'GET' : method) && own.pattern.test(path),
  )
  const chatPath = path.replace('/webchat/', '/chat/')
  if (isOwn || !chatPatterns.some((pattern) => pattern.test(chatPath))) return address
  return address.replace('webchat', 'chat')
}

/**
 * Encodes the slashes in those parameters of an address that clients do not encode. Anybody may send an address, so it is
 * read once, without a pattern that tries where its parts begin.
 */
function encodeSlashes(url: string): string {
  for (const { prefix, suffix } of unencodedParams) {
    // Few addresses contain it, so the others cost one search.
    if (!url.includes(suffix)) continue
    const path = withoutEndSlashes(url.split('?', 1)[0] ?? '')
    if (!path.endsWith(`/${suffix}`)) continue
    const before = withoutEndSlashes(path.slice(0, -suffix.length))
    const start = prefix.exec(before)?.[0].length
    if (start === undefined) continue
    const parameter = before.slice(start)
    if (!parameter.includes('/')) continue
    return `${url.slice(0, start)}${parameter.replaceAll('/', '%2F')}${url.slice(before.length)}`
  }
  return url
}

/** For clients that know operations of later versions, or keys with a slash that is not encoded. */
const routesHint =
  'The operations of this version are listed at /docs; a / inside an id or key is written %2F.'

/** Points callers to the list of operations of existing clients that are not served. */
const compatibilityHint =
  'docs/guides/compatibility.md lists the operations of existing clients that this version does not serve.'

/** Patterns of the paths at and below which existing clients have operations and this server has none. */
export const unserved: readonly string[] = [
  'v1/tables',
  'v1/admin/activities',
  'v1/admin/quotas',
  'v1/admin/bots/[^/]+/bot-json',
  'v1/admin/bots/[^/]+/publish-from-bot-json',
  'v1/admin/bots/[^/]+/integrations/[^/]+/sandboxed-conversations',
  'v1/admin/bots/[^/]+/integrations/[^/]+/shareable-id',
  'v1/admin/workspaces/[^/]+/billing',
  'v1/admin/workspaces/[^/]+/migrate-to-v4',
  'v2/billing',
  'v2/usage',
]
const unservedPattern = patternOfUnserved(unserved.join('|'))

/** Returns a pattern for an entry of {@link unserved} and what is below it. */
export function patternOfUnserved(entry: string): RegExp {
  return new RegExp(`^/(${entry})(/|$)`)
}

/** A known path with another method gets 405 with the allowed methods; an unknown path gets 404. */
export function refuseUnknownRoutes(
  app: FastifyInstance,
  routes: readonly Route[],
  meter: RequestMeter | undefined,
): void {
  const known = routes.map(({ operation }) => ({
    method: operation.method,
    pattern: patternOf(operation),
  }))
  app.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0] ?? '/'
    const plain = plainPath(path)
    const methods = known.filter(({ pattern }) => pattern.test(plain)).map(({ method }) => method)
    meter?.unknown(methods.length === 0 ? 404 : 405)
    if (methods.length === 0) {
      throw new ApiError(
        'ResourceNotFound',
        isUnserved(plain)
          ? `${path} is not served by this version. ${compatibilityHint}`
          : `There is nothing at ${path}. ${routesHint}`,
      )
    }
    const allowed = [...new Set(methods)].join(', ')
    reply.header('allow', allowed)
    throw new ApiError(
      'MethodNotFound',
      `${request.method} is not allowed at ${path}; allowed: ${allowed}. ${routesHint} ${compatibilityHint}`,
    )
  })
}

/** Whether existing clients have operations at or below a path that this server lacks. */
function isUnserved(path: string): boolean {
  return unservedPattern.test(path)
}
