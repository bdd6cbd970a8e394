import { ApiError } from '@botstead/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Awaitable } from '../platform/awaitable.js'
import type { HttpContext } from './context.js'
import { isOwnOrigin } from './own-origin.js'

export interface ChatOriginOptions extends Pick<HttpContext, 'admitUnmatched'> {
  /** Whether a page of an origin may use the chat at a webhook id. */
  allowsChatOrigin(webhookId: string, origin: string): Awaitable<boolean>
  /** Base address as callers reach the server. */
  baseUrl(): string
}

/** Everything at the address of a chat, for programs and for web chats. */
const chatRoute = /^\/(?:web)?chat\/:webhookId(?:\/|$)/
const chatAddress = /^\/+(?:web)?chat\/+([^/]+)/

/**
 * Refuses pages of web sites that may not use a chat, with `OPTIONS` and streams. Must be called before CORS headers
 * are set: a refusal has none. Requests without `Origin` do not come from pages of others.
 */
export function refuseForeignPages(
  app: FastifyInstance,
  { allowsChatOrigin, baseUrl, admitUnmatched }: ChatOriginOptions,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers
    const webhookId = origin === undefined ? undefined : webhookIdOf(request)
    if (origin === undefined || webhookId === undefined) return done()
    if (isOwnOrigin(origin, request, baseUrl())) return done()
    const decide = (isAllowed: boolean): void => {
      if (isAllowed) {
        request.pageOrigin = origin
        done()
        return
      }
      reply.header('vary', 'Origin')
      admitUnmatched(request, reply, (limited) => done(limited ?? foreignPage(origin)))
    }
    const allowed = allowsChatOrigin(webhookId, origin)
    if (allowed instanceof Promise) allowed.then(decide, done)
    else decide(allowed)
  })
}

/**
 * The webhook id as the router reads it, which also knows other ways to write the path. Preflights have no route of
 * their own. Undefined elsewhere, and for what no database accepts; the operation then refuses it.
 */
function webhookIdOf({ url, params, routeOptions }: FastifyRequest): string | undefined {
  const isRoute = chatRoute.test(routeOptions.url ?? '')
  const webhookId: unknown = isRoute
    ? Reflect.get(Object(params), 'webhookId')
    : webhookIdIn(url.split('?', 1)[0] ?? '')
  return typeof webhookId === 'string' && !webhookId.includes('\0') ? webhookId : undefined
}

function webhookIdIn(path: string): string | undefined {
  try {
    const [, segment] = chatAddress.exec(decodeURI(path)) ?? []
    return segment && decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

function foreignPage(origin: string): ApiError {
  return new ApiError(
    'Forbidden',
    `Pages of ${origin.slice(0, 300)} may not use this chat: its allowedOrigins, which the workspace of the bot sets, do not contain that origin.`,
    { metadata: { in: 'headers', field: 'origin' } },
  )
}
