import { ApiError } from '@botstead/contract'
import { parse, serialize } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../platform/clock.js'
import { isSessionValue } from '../platform/ids.js'
import { isOwnOrigin } from './own-origin.js'

/** Header that a page sends with requests for which browsers send no `Origin`; its value has no meaning. */
const pageHeader = 'x-requested-with'

/** The cookies of signed-in browsers. */
export interface SessionCookies {
  /**
   * The session of a request without `Authorization`; undefined if it has none. Throws `Unauthorized` for
   * a session that comes from a page of another origin.
   */
  read(request: FastifyRequest): string | undefined
  /** Throws `Forbidden` unless the request comes from a page of this server. */
  requireOwnPage(request: FastifyRequest): void
  /** @param expiresAt when the cookie ends, ISO 8601 */
  set(request: FastifyRequest, reply: FastifyReply, value: string, expiresAt: string): void
  clear(request: FastifyRequest, reply: FastifyReply): void
  /** The secret by which a browser is known that signed in before. It proves nothing but that. */
  readDevice(request: FastifyRequest): string | undefined
  keepDevice(request: FastifyRequest, reply: FastifyReply, value: string): void
  /** The secret of a sign-in or passkey that was begun: it ties what a provider or a device answers to the browser. */
  readSignOn(request: FastifyRequest): string | undefined
  keepSignOn(request: FastifyRequest, reply: FastifyReply, value: string): void
}

/** Milliseconds for which a browser is known after its last sign-in with a password. */
const deviceLifetime = 365 * 24 * 60 * 60 * 1000
/** Milliseconds that a person has at a provider; with a device it is less. */
const signOnLifetime = 10 * 60 * 1000

export interface SessionCookiesOptions {
  /** Distinguishes servers at several ports of a machine, whose cookies browsers do not separate. */
  installation: string
  /** Address of the server as callers reach it; read at each request. */
  baseUrl: () => string
  clock: Clock
}

/**
 * Sessions are accepted from pages of this server only, whatever CORS permits to others. Browsers send an
 * `Origin` with every request that changes something and with every one that a page of another origin may read.
 * Where they send none, a page of another origin cannot add a header, so that {@link pageHeader} proves that the page
 * is one of ours; `Sec-Fetch-Site` says the same, but browsers omit it on plain HTTP.
 */
export function createSessionCookies(options: SessionCookiesOptions): SessionCookies {
  /** Browsers keep others of the same domain from setting a cookie with the prefix, which they accept for `/` only. */
  function nameFor(request: FastifyRequest): string {
    const { secure, path } = attributes(request)
    return `${secure && path === '/' ? '__Host-' : ''}botstead_${options.installation}`
  }

  /** Cookies beside that of the session; the page that a provider leads back to sends them with a request of its own. */
  function besides(suffix: string, lifetime: number) {
    const name = (request: FastifyRequest) => `${nameFor(request)}_${suffix}`
    return {
      read(request: FastifyRequest): string | undefined {
        const { cookie } = request.headers
        return cookie === undefined ? undefined : parse(cookie)[name(request)]
      },
      keep(request: FastifyRequest, reply: FastifyReply, value: string): void {
        const expires = new Date(options.clock.now() + lifetime)
        reply.header(
          'set-cookie',
          serialize(name(request), value, { ...attributes(request), expires }),
        )
      },
    }
  }

  function isOwnPage(request: FastifyRequest): boolean {
    const { origin, 'sec-fetch-site': site = 'same-origin' } = request.headers
    if (site !== 'same-origin') return false
    if (origin !== undefined) return isOwnOrigin(origin, request, options.baseUrl())
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    return isRead && request.headers[pageHeader] !== undefined
  }

  /** The cookie is `secure` if callers reach the server over https. */
  const attributes = (request: FastifyRequest) => {
    const base = new URL(options.baseUrl())
    return {
      httpOnly: true,
      sameSite: 'strict',
      secure: base.protocol === 'https:' || request.protocol === 'https',
      path: base.pathname,
    } as const
  }

  const device = besides('device', deviceLifetime)
  const signOn = besides('sign_on', signOnLifetime)

  return {
    read(request) {
      const { cookie } = request.headers
      if (cookie === undefined) return undefined
      const value = parse(cookie)[nameFor(request)]
      // Tokens do not end by themselves, so that they are accepted in Authorization alone.
      if (value === undefined || !isSessionValue(value)) return undefined
      if (!isOwnPage(request)) throw new ApiError('Unauthorized', foreignPage(request, options))
      return value
    },

    requireOwnPage(request) {
      if (!isOwnPage(request)) throw new ApiError('Forbidden', foreignPage(request, options))
    },

    set(request, reply, value, expiresAt) {
      const expires = new Date(expiresAt)
      reply.header(
        'set-cookie',
        serialize(nameFor(request), value, { ...attributes(request), expires }),
      )
    },

    clear(request, reply) {
      const expires = new Date(0)
      reply.header(
        'set-cookie',
        serialize(nameFor(request), '', { ...attributes(request), expires }),
      )
    },

    readDevice: device.read,
    keepDevice: device.keep,
    readSignOn: signOn.read,
    keepSignOn: signOn.keep,
  }
}

function foreignPage(
  { headers: { origin } }: FastifyRequest,
  { baseUrl }: SessionCookiesOptions,
): string {
  const given = origin === undefined ? 'has none' : `has ${origin}`
  return `Sessions are for pages of this server: the header Origin must be ${new URL(baseUrl()).origin}, and the request ${given}. If that is the address of this server, set BOTSTEAD_PUBLIC_URL to it. Programs send "Authorization: Bearer <token>".`
}
