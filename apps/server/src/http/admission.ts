import { ApiError, type Operation } from '@botstead/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { chatSettings } from '../config/chat-settings.js'
import type { Actor } from '../domain/actor.js'
import type { Authenticator } from '../domain/authenticator.js'
import type { Clock } from '../platform/clock.js'
import {
  createRateLimiter,
  type RateLimitDecision,
  type RateLimiter,
} from '../platform/security/rate-limit.js'
import { identify } from './auth.js'
import { callerAddress, isLoopback } from './caller-address.js'
import { type Allowance, setAllowance } from './connections/index.js'
import type { HttpContext } from './context.js'
import type { SessionCookies } from './session-cookies.js'

/** Milliseconds after which a caller is identified anew before the call is handled. */
const maxAdmissionAge = 1000

interface AdmissionOptions {
  authenticator: Authenticator
  /** Undefined where browsers cannot sign in. */
  sessionCookies: SessionCookies | undefined
  /** Counts requests per principal; undefined applies no limit. */
  rateLimiter: RateLimiter | undefined
  /** Applies the additional limits of some operations. */
  throttle: Throttle
  /** Whether callers on this machine are exempt from the limits. */
  exemptLoopback: boolean
  /** The burst that the rate-limit headers show to callers who are not counted. */
  allowance: number
}

/** Identifies the caller and counts the request, both before the body is read. */
export function admission(
  options: AdmissionOptions,
): Pick<HttpContext, 'admit' | 'readmit' | 'admitUnmatched' | 'countAs'> {
  const { authenticator, sessionCookies, rateLimiter, allowance } = options
  const unlimited: Allowance = { limit: allowance, remaining: allowance, resetSeconds: 0 }

  const takeOne = (request: FastifyRequest): RateLimitDecision | undefined => {
    if (rateLimiter === undefined) return undefined
    if (options.exemptLoopback && isLoopback(request.ip)) return undefined
    return rateLimiter.take(request.principal)
  }

  /** Refuses if any limit is exceeded; the headers are about the limit that is nearest. */
  const count = (request: FastifyRequest, reply: FastifyReply, operation?: Operation): void => {
    const general = takeOne(request)
    const own = operation === undefined ? undefined : options.throttle(operation, request)
    const tightest = tighterOf(own, general)
    setAllowance(reply, tightest ?? unlimited)
    if (tightest?.allowed === false) throw tooManyRequests(tightest)
  }

  const requireSignInPage = (request: FastifyRequest): void => {
    if (sessionCookies !== undefined) {
      sessionCookies.requireOwnPage(request)
      return
    }
    throw new ApiError(
      'Forbidden',
      'Browsers cannot sign in, because BOTSTEAD_DASHBOARD is off; programs send "Authorization: Bearer <token>".',
    )
  }

  const admitAs = (
    operation: Operation,
    request: FastifyRequest,
    reply: FastifyReply,
    actor: Actor | undefined,
  ): void => {
    request.actor = withOrigin(operation, request, actor)
    request.principal = principalOf(actor, request)
    request.admittedAt = performance.now()
    count(request, reply, operation)
  }

  /** Failed attempts count against the address, so that a caller who only fails soon has to wait. */
  const refuse = (request: FastifyRequest, reply: FastifyReply, error: unknown): Error => {
    // A caller that was already counted keeps the headers of that count.
    if (error instanceof ApiError && error.type === 'RateLimited') return error
    request.principal = principalOf(undefined, request)
    try {
      count(request, reply)
    } catch (limited) {
      return toError(limited)
    }
    return toError(error)
  }

  const admit: HttpContext['admit'] = (operation, request, reply, done) => {
    if (operation.probe) {
      setAllowance(reply, unlimited)
      return done()
    }
    try {
      if (operation.session === 'begins') requireSignInPage(request)
      const actor = identify(authenticator, sessionCookies, operation, request)
      if (!(actor instanceof Promise)) {
        admitAs(operation, request, reply, actor)
        return done()
      }
      actor
        .then((known) => admitAs(operation, request, reply, known))
        .then(
          () => done(),
          (error: unknown) => done(refuse(request, reply, error)),
        )
    } catch (error) {
      done(refuse(request, reply, error))
    }
  }

  const readmit: HttpContext['readmit'] = (operation, request) => {
    if (performance.now() - request.admittedAt < maxAdmissionAge) return undefined
    const keep = (actor: Actor | undefined) => {
      request.actor = withOrigin(operation, request, actor)
    }
    const actor = identify(authenticator, sessionCookies, operation, request)
    if (actor instanceof Promise) return actor.then(keep)
    keep(actor)
    return undefined
  }

  const admitUnmatched: HttpContext['admitUnmatched'] = (request, reply, done) => {
    request.principal = principalOf(undefined, request)
    try {
      count(request, reply)
    } catch (limited) {
      return done(toError(limited))
    }
    done(hasZero(request.params) ? nothingThere() : undefined)
  }

  const countAs: HttpContext['countAs'] = (name, amount, request, reply) => {
    const decision = options.throttle({ throttle: name }, request, amount)
    if (decision === undefined || decision.allowed) return
    setAllowance(reply, decision)
    throw name === 'fileBytes' ? tooManyBytes(decision) : tooManyRequests(decision)
  }

  return { admit, readmit, admitUnmatched, countAs }
}

/** The actor of a call that the audit log records, with what its record says of the call. */
function withOrigin(
  { id, audit }: Operation,
  request: FastifyRequest,
  actor: Actor | undefined,
): Actor | undefined {
  if (audit !== 'workspace' && audit !== 'account') return actor
  if (actor?.kind !== 'account' && actor?.kind !== 'workspace') return actor
  return { ...actor, origin: { operation: id, address: callerAddress(request) } }
}

/** The key by which limits and idempotency keys are counted. */
function principalOf(actor: Actor | undefined, request: FastifyRequest): string {
  switch (actor?.kind) {
    case 'account':
    case 'token':
    case 'workspace':
    case 'bot':
      return actor.tokenId
    case 'chat-user':
      return `${actor.chat.webhookId}:${actor.userKeyId}`
    case 'chat':
      return `${actor.chat.webhookId}:${actor.address}`
    case undefined:
      return callerAddress(request)
    default:
      return actor satisfies never
  }
}

/** The decision that is nearer to its limit, or the first if both are as near. */
function tighterOf(
  first: RateLimitDecision | undefined,
  second: RateLimitDecision | undefined,
): RateLimitDecision | undefined {
  if (first === undefined || second === undefined) return first ?? second
  return isTighter(second, first) ? second : first
}

function isTighter(one: RateLimitDecision, other: RateLimitDecision): boolean {
  if (one.allowed !== other.allowed) return other.allowed
  return one.allowed
    ? one.remaining < other.remaining
    : one.retryAfterSeconds > other.retryAfterSeconds
}

function tooManyRequests(decision: RateLimitDecision): ApiError {
  return new ApiError(
    'RateLimited',
    `Rate limit exceeded (burst of ${decision.limit}). Retry after ${decision.retryAfterSeconds} s.`,
    { metadata: { retryAfterSeconds: decision.retryAfterSeconds } },
  )
}

function tooManyBytes({ limit, retryAfterSeconds }: RateLimitDecision): ApiError {
  return new ApiError(
    'RateLimited',
    `Too many files: users at one network address may send ${limit} bytes an hour to this chat. Retry after ${retryAfterSeconds} s. The operator of the server can raise ${chatSettings.chatAddressFileBytes.name}.`,
    { metadata: { retryAfterSeconds } },
  )
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

/**
 * Whether a part of the path contains U+0000, which PostgreSQL cannot search for. Operations have schemas that refuse it;
 * other addresses have none.
 */
function hasZero(params: unknown): boolean {
  return Object.values(Object(params)).some((value) => String(value).includes('\0'))
}

function nothingThere(): ApiError {
  return new ApiError('ResourceNotFound', 'There is no address with the character U+0000.')
}

interface Rate {
  perMinute: number | undefined
  exemptLoopback: boolean
}

export interface ThrottleOptions {
  clock: Clock
  rates: {
    newUsers: Rate
    userMessages: Rate
    addressMessages: Rate
    userFiles: Rate
    addressFileBytes: Rate
  }
}

/** Counts the operations that are open to abuse; returns the tightest decision, or undefined without a limit. */
export type Throttle = (
  operation: Pick<Operation, 'throttle'>,
  request: FastifyRequest,
  amount?: number,
) => RateLimitDecision | undefined

type Count = (request: FastifyRequest, amount: number | undefined) => RateLimitDecision | undefined

/**
 * Limits in addition to the one for all requests: new users by address, messages by user and by address, files by user,
 * and the bytes of files by address.
 */
export function createThrottle({ clock, rates }: ThrottleOptions): Throttle {
  const counter = (
    { perMinute, exemptLoopback }: Rate,
    keyOf: (request: FastifyRequest) => string,
    burstMinutes = 1,
  ): Count => {
    if (perMinute === undefined) return () => undefined
    const limiter = createRateLimiter({ perMinute, burst: perMinute * burstMinutes, clock })
    return (request, amount) =>
      exemptLoopback && isLoopback(request.ip) ? undefined : limiter.take(keyOf(request), amount)
  }
  const counters: Record<NonNullable<Operation['throttle']>, Count[]> = {
    users: [counter(rates.newUsers, addressKey)],
    messages: [
      counter(rates.userMessages, ({ principal }) => principal),
      counter(rates.addressMessages, addressKey),
    ],
    files: [counter(rates.userFiles, ({ principal }) => principal)],
    fileBytes: [counter(rates.addressFileBytes, addressKey, 60)],
  }
  return (operation, request, amount) => {
    if (operation.throttle === undefined) return undefined
    let tightest: RateLimitDecision | undefined
    for (const count of counters[operation.throttle]) {
      tightest = tighterOf(tightest, count(request, amount))
    }
    return tightest
  }
}

/** One network address at one chat, so that callers at the same address of other chats are unaffected. */
function addressKey(request: FastifyRequest): string {
  const { webhookId } = request.params as { webhookId?: string }
  return `${webhookId} ${callerAddress(request)}`
}
