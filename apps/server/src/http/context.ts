import type { Operation, Throttle } from '@botstead/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../domain/actor.js'
import type { Authenticator } from '../domain/authenticator.js'
import type { NoteReading } from '../domain/readings.js'
import type { IdempotencyStore } from '../platform/idempotency/store.js'
import type { Span } from '../platform/telemetry/tracing.js'
import type { ReadJson } from './json-body.js'
import type { SessionCookies } from './session-cookies.js'
import type { RequestTracer } from './tracing.js'

/** The body limit of some operations. */
interface BodyLimit {
  bytes: number
  /** Name of the setting that changes the limit, for the error of a larger body. */
  setting?: string
}

/** Services of the application that mounted operations use. */
export interface HttpContext {
  /** Authenticates the caller and counts the request, before the body is read. */
  admit(
    operation: Operation,
    request: FastifyRequest,
    reply: FastifyReply,
    done: (error?: Error) => void,
  ): void
  /**
   * Identifies the caller anew if more than a second has passed since then, as where the body arrived late: a token or a
   * role that has ended meanwhile is refused. Returns undefined where that needs no waiting.
   */
  readmit(operation: Operation, request: FastifyRequest): Promise<void> | undefined
  /** Counts a request that matches no operation against the address that it comes from. */
  admitUnmatched(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void
  /** Counts a request that was admitted against one more limit, as one or more; throws `RateLimited`. */
  countAs(throttle: Throttle, amount: number, request: FastifyRequest, reply: FastifyReply): void
  /** Records what people read of others; undefined where nothing is recorded, as in some tests. */
  noteReading: NoteReading | undefined
  idempotency: IdempotencyStore
  /** Sets and clears the cookies of sessions; undefined where browsers cannot sign in. */
  sessionCookies: SessionCookies | undefined
  /** The current user behind a chat key: a stored response is for that user only. */
  holderOf: Authenticator['holderOf']
  /** Maximum sizes of JSON bodies in bytes, by the `bodyLimit` of operations. */
  bodyLimits: Readonly<Record<NonNullable<Operation['bodyLimit']>, BodyLimit>>
  /** Parses JSON bodies. */
  readJson: ReadJson
  /** Returns a function that counts the responses of an operation; undefined when metrics are off. */
  observe(operation: Operation): ((status: number, milliseconds: number) => void) | undefined
  /** Makes a span of each request; undefined when traces are off. */
  tracer: RequestTracer | undefined
  /** Returns a function that checks responses against the contract; undefined outside tests. */
  checkResponses(operation: Operation): ((response: unknown) => void) | undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the handler reads the body as a stream. */
    isUpload?: boolean
    /** False where responses set their own CORS headers. */
    cors?: false
    /** The setting behind the body limit; undefined where there is none. */
    bodySetting?: string
  }
  interface FastifyRequest {
    /** The caller; undefined on public operations. */
    actor: Actor | undefined
    /** Origin of the page of another web site that calls a chat address, which the bot allows; undefined otherwise. */
    pageOrigin: string | undefined
    /** The key by which limits and idempotency keys are counted: a token, a user key or an address. */
    principal: string
    /** Time at which the caller was identified, in milliseconds of `performance.now()`. */
    admittedAt: number
    /** Its span; undefined without a trace. */
    span: Span | undefined
  }
}
