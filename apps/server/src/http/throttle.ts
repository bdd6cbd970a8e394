import type { Operation } from '@botstead/contract'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../platform/clock.js'
import { createRateLimiter, type RateLimitDecision } from '../platform/security/rate-limit.js'
import { callerAddress, isLoopback } from './caller-address.js'

interface Rate {
  perMinute: number | undefined
  exemptLoopback: boolean
}

export interface ThrottleOptions {
  clock: Clock
  rates: { newUsers: Rate; userMessages: Rate; addressMessages: Rate }
}

/** Counts what abuse is made of; answers one decision for each limit that is over it. */
export type Throttle = (operation: Operation, request: FastifyRequest) => RateLimitDecision[]

type Count = (request: FastifyRequest) => RateLimitDecision | undefined

/** Limits beside that of all requests: new users by address, messages by user and by address. */
export function createThrottle({ clock, rates }: ThrottleOptions): Throttle {
  const counter = (
    { perMinute, exemptLoopback }: Rate,
    keyOf: (request: FastifyRequest) => string,
  ): Count => {
    if (perMinute === undefined) return () => undefined
    const limiter = createRateLimiter({ perMinute, burst: perMinute, clock })
    return (request) =>
      exemptLoopback && isLoopback(request.ip) ? undefined : limiter.take(keyOf(request))
  }
  const counters: Record<NonNullable<Operation['throttle']>, Count[]> = {
    users: [counter(rates.newUsers, addressKey)],
    messages: [
      counter(rates.userMessages, ({ principal }) => principal),
      counter(rates.addressMessages, addressKey),
    ],
  }
  return (operation, request) => {
    if (operation.throttle === undefined) return []
    return counters[operation.throttle].flatMap((count) => count(request) ?? [])
  }
}

/** One network address at one chat: others at the same address have nothing to do with it. */
function addressKey(request: FastifyRequest): string {
  const { webhookId } = request.params as { webhookId?: string }
  return `${webhookId} ${callerAddress(request)}`
}
