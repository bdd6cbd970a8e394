import { ApiError, type Operation } from '@botstead/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../domain/actor.js'
import type { Authenticator } from '../domain/authenticator.js'
import type { RateLimitDecision, RateLimiter } from '../platform/security/rate-limit.js'
import { identify } from './auth.js'
import { callerAddress, isLoopback } from './caller-address.js'
import type { HttpContext } from './context.js'
import type { Throttle } from './throttle.js'

type Allowance = Pick<RateLimitDecision, 'limit' | 'remaining' | 'resetSeconds'>

interface AdmissionOptions {
  authenticator: Authenticator
  /** Counts requests per principal; undefined never refuses anybody. */
  rateLimiter: RateLimiter | undefined
  /** Counts some operations once more. */
  throttle: Throttle
  /** Callers on this machine are never refused. */
  exemptLoopback: boolean
  /** Requests at once that callers who are not counted are told they have. */
  allowance: number
}

/** Lets requests in: finds out who calls, then counts them, both before the body is read. */
export function admission(options: AdmissionOptions): Pick<HttpContext, 'admit' | 'admitAnybody'> {
  const { authenticator, rateLimiter, allowance } = options
  const unlimited = { limit: allowance, remaining: allowance, resetSeconds: 0 }

  const takeOne = (request: FastifyRequest): RateLimitDecision | undefined => {
    if (rateLimiter === undefined) return undefined
    if (options.exemptLoopback && isLoopback(request.ip)) return undefined
    return rateLimiter.take(request.principal)
  }

  /** Refuses by whichever limit is over; the headers tell of the one that is nearest. */
  const count = (request: FastifyRequest, reply: FastifyReply, operation?: Operation): void => {
    const decision = takeOne(request)
    const decisions = operation === undefined ? [] : options.throttle(operation, request)
    if (decision !== undefined) decisions.push(decision)
    const tightest = tightestOf(decisions)
    setRateHeaders(reply, tightest ?? unlimited)
    if (tightest?.allowed === false) throw tooManyRequests(tightest)
  }

  const admitAs = (
    operation: Operation,
    request: FastifyRequest,
    reply: FastifyReply,
    actor: Actor | undefined,
  ): void => {
    request.actor = actor
    request.principal = principalOf(actor, request)
    count(request, reply, operation)
  }

  /** Failed attempts count against the address: who only fails is soon told to wait. */
  const refuse = (request: FastifyRequest, reply: FastifyReply, error: unknown): Error => {
    // Whoever was counted already is told of that count.
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
      setRateHeaders(reply, unlimited)
      return done()
    }
    try {
      const actor = identify(authenticator, operation.auth, request)
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

  const admitAnybody: HttpContext['admitAnybody'] = (request, reply, done) => {
    request.principal = principalOf(undefined, request)
    try {
      count(request, reply)
    } catch (limited) {
      return done(toError(limited))
    }
    done()
  }

  return { admit, admitAnybody }
}

/** What limits and idempotency keys are counted by. */
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

function tightestOf(decisions: readonly RateLimitDecision[]): RateLimitDecision | undefined {
  const [first, ...others] = decisions
  if (first === undefined) return undefined
  return others.reduce((best, next) => (isTighter(next, best) ? next : best), first)
}

function isTighter(one: RateLimitDecision, other: RateLimitDecision): boolean {
  if (one.allowed !== other.allowed) return other.allowed
  return one.allowed
    ? one.remaining < other.remaining
    : one.retryAfterSeconds > other.retryAfterSeconds
}

function setRateHeaders(reply: FastifyReply, decision: Allowance): void {
  reply.header('ratelimit-limit', decision.limit)
  reply.header('ratelimit-remaining', decision.remaining)
  reply.header('ratelimit-reset', decision.resetSeconds)
}

function tooManyRequests(decision: RateLimitDecision): ApiError {
  return new ApiError(
    'RateLimited',
    `Too many requests: ${decision.limit} may come at once. Come back in ${decision.retryAfterSeconds} s.`,
    { metadata: { retryAfterSeconds: decision.retryAfterSeconds } },
  )
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
