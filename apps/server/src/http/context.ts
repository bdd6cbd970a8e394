import type { Operation } from '@botstead/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../domain/actor.js'
import type { Authenticator } from '../domain/authenticator.js'
import type { IdempotencyStore } from '../platform/idempotency/store.js'

/** Largest body of some operations. */
interface BodyLimit {
  bytes: number
  /** Name of the setting that changes it, for the error of a larger body. */
  setting?: string
}

/** What mounting an operation needs from the application around it. */
export interface HttpContext {
  /** Authenticates the caller and counts the request, before the body is read. */
  admit(
    operation: Operation,
    request: FastifyRequest,
    reply: FastifyReply,
    done: (error?: Error) => void,
  ): void
  /** Counts a request that is for no operation, by the address it comes from. */
  admitAnybody(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void
  idempotency: IdempotencyStore
  /** The user behind a chat key at this moment: a remembered answer is for that user alone. */
  holderOf: Authenticator['holderOf']
  /** Largest JSON bodies, by the `bodyLimit` of operations. */
  bodyLimits: Readonly<Record<NonNullable<Operation['bodyLimit']>, BodyLimit>>
  /** Returns what counts the answers of an operation; undefined when nobody counts. */
  observe(operation: Operation): ((status: number, milliseconds: number) => void) | undefined
  /** Checks answers against the contract; undefined outside tests. */
  checkAnswers(operation: Operation): ((answer: unknown) => void) | undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the body is a stream that the handler reads. */
    isUpload?: boolean
    /** The setting behind the limit of the body; undefined where there is none. */
    bodySetting?: string
  }
  interface FastifyRequest {
    /** Who calls; undefined on public operations. */
    actor: Actor | undefined
    /** What limits and idempotency keys are counted by: a token, a user key or an address. */
    principal: string
  }
}
