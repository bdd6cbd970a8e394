import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { Body, Headers, Operation, Output, Params, Query, Throttle } from '@botstead/contract'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteOptions as RouteOptionsOfFastify,
} from 'fastify'
import type { Browser } from '../domain/browser.js'
import type { StartStream } from '../platform/streams/sink.js'
import type { ActorByAuth } from './auth.js'
import { callerAddress, isLoopback } from './caller-address.js'
import { disableBodyTimeout, discardUnreadBody, observeResponse } from './connections/index.js'
import type { HttpContext } from './context.js'
import { directRequests } from './json-request.js'
import { idempotencyKeyOf, type Once, onceWithKey, onceWithoutKey } from './once.js'
import { compileQueryReader } from './query.js'
import { noteReadingOf, readsContent } from './readings.js'
import { streamHandlers } from './streams/index.js'
import { createResponseCache, sendBytes, sendJson, sendJsonText } from './whole-response.js'

/** The request that a handler receives: authenticated, validated and typed. */
interface Call<Spec extends Operation> {
  actor: ActorByAuth[Spec['auth']]
  params: Params<Spec>
  query: Query<Spec>
  headers: Headers<Spec>
  body: Body<Spec>
  /** Raw body of an `upload` operation. */
  stream: IncomingMessage
  /** Whether a `download` is to return the headers alone. */
  isHead: boolean
  /** Aborts when the caller disconnects. */
  signal: AbortSignal
  /** Origin of the page of another web site that calls a chat address; undefined otherwise. */
  pageOrigin: string | undefined
  /** Adds a header to the response. */
  setHeader(name: string, value: string): void
  /**
   * For operations with a `session`: signs the browser in.
   * @param expiresAt ISO 8601
   */
  beginSession(value: string, expiresAt: string): void
  /** For operations with a `session`: signs the browser out. */
  endSession(): void
  /** The browser that calls, for operations about sign-in. */
  browser: Browser
  /** Leaves a secret in the browser by which it is known at its next sign-in. */
  keepDevice(value: string): void
  /** Leaves a secret in the browser by which it is known when it finishes a sign-in or passkey that it began. */
  keepSignOn(value: string): void
  /**
   * Counts against a separate limit that only some calls of the operation touch; throws `RateLimited`.
   * @param amount 1 unless given
   */
  countAs(throttle: Throttle, amount?: number): void
  /** For `idempotent` operations: does the work once per `Idempotency-Key`. */
  once: Once<Output<Spec>>
}

/** The response of an `upload` operation whose content is to be sent to another address. */
export class ContinueAt {
  readonly location: string

  constructor(location: string) {
    this.location = location
  }
}

/** A response of headers alone. */
interface HeadersResponse {
  status: number
  headers: Record<string, string | number>
}

/** The response of a `download` operation. */
interface Download extends HeadersResponse {
  /** Opens the body, for GET only: HEAD sends the same headers and reads nothing. Absent without a body. */
  open?(): Promise<Readable | Buffer>
  /** The address of the body, for GET only, where the server does not send it itself. */
  readAt?(): Promise<string>
}

/** Return types of handlers, by the response kind of the operation. */
interface ResponseByKind<Spec extends Operation> {
  json: Spec['response'] extends { redirect: string } ? Output<Spec> | ContinueAt : Output<Spec>
  headers: HeadersResponse
  download: Download
  stream: StartStream
}

type ResponseKind = Operation['response']['kind']

/** Handles the calls of one operation; what it returns depends on the kind of response. */
export type Handler<Spec extends Operation> = (
  call: Call<Spec>,
) => Promise<ResponseByKind<Spec>[Spec['response']['kind']]>

/** An operation with its handler, which a slice passes to the HTTP layer. */
export interface Route {
  operation: Operation
  register(app: FastifyInstance, context: HttpContext): void
}

export interface RouteOptions<Spec extends Operation> {
  /** For operations whose response depends on the actor's scope and the URL alone. */
  revision?: Revision<ActorByAuth[Spec['auth']]>
}

/** Pairs an operation of the contract with its handler. */
export function route<const Spec extends Operation>(
  operation: Spec,
  handler: Handler<Spec>,
  options: RouteOptions<Spec> = {},
): Route {
  return {
    operation,
    register: (app, context) => mount(app, context, operation, handler, options),
  }
}

/** Methods whose requests have a body that the framework reads. */
const methodsWithBody = new Set<Operation['method']>(['DELETE', 'PATCH', 'POST', 'PUT'])

function mount<const Spec extends Operation>(
  app: FastifyInstance,
  context: HttpContext,
  operation: Spec,
  handler: Handler<Spec>,
  options: RouteOptions<Spec>,
): void {
  const readQuery = compileQueryReader(operation.query)
  const observe = context.observe(operation)
  const isUpload = operation.upload !== undefined
  const bodyLimit = context.bodyLimits[operation.bodyLimit ?? 'small']
  const kind: Spec['response']['kind'] = operation.response.kind
  const responders: Responders<Spec> = {
    json: (work) => respondWithJson(work, operation, context, options),
    headers: respondWithHeaders,
    download: respondWithDownload,
    stream: streamHandlers,
  }
  const handle: Work<ResponseByKind<Spec>[typeof kind]> = (request, reply) =>
    handler(new RequestCall(context, operation, request, reply))
  const { noteReading } = context
  const noted: typeof handle =
    noteReading === undefined || !readsContent(operation)
      ? handle
      : (request, reply) => {
          const recorded = noteReadingOf(noteReading, operation, request)
          return recorded === undefined
            ? handle(request, reply)
            : recorded.then(() => handle(request, reply))
        }
  // A body can be held back until the authority with which the call was admitted has ended.
  const mayWait = methodsWithBody.has(operation.method) && !isUpload && isIdentified(operation)
  const handlers = responders[kind](
    mayWait
      ? (request, reply) => {
          const again = context.readmit(operation, request)
          return again === undefined
            ? noted(request, reply)
            : again.then(() => noted(request, reply))
        }
      : noted,
  )
  const tracer = context.tracer?.of(operation)
  const respond = tracer?.around(handlers.handler) ?? handlers.handler
  const direct =
    kind === 'json' && !isUpload && methodsWithBody.has(operation.method)
      ? directRequests(operation, {
          limit: bodyLimit.bytes,
          readJson: context.readJson,
          respond: (request, reply) => void respond.call(app, request, reply),
        })
      : undefined

  app.route({
    method: operation.method,
    url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    // Streams are limited by the code that reads them.
    bodyLimit: isUpload ? Number.MAX_SAFE_INTEGER : bodyLimit.bytes,
    config: {
      isUpload,
      ...(bodyLimit.setting !== undefined && { bodySetting: bodyLimit.setting }),
    },
    schema: {
      ...(operation.params && { params: operation.params }),
      ...(operation.query && { querystring: operation.query }),
      ...(operation.headers && { headers: operation.headers }),
      ...(operation.body && { body: operation.body }),
    },
    onRequest: (request, reply, done) => {
      tracer?.begin(request, reply)
      request.query = readQuery(rawQueryOf(request.url))
      if (isUpload) {
        disableBodyTimeout(request.raw)
        discardUnreadBody(request, reply)
      }
      if (observe !== undefined && kind !== 'stream') observeResponse(reply.raw, observe)
      if (direct === undefined) context.admit(operation, request, reply, done)
      else {
        context.admit(operation, request, reply, (refusal) => {
          if (refusal !== undefined || !direct(request, reply)) done(refusal)
        })
      }
    },
    ...(operation.bodyOptional && {
      preValidation: (request, _reply, done) => {
        if (request.body === undefined) request.body = {}
        done()
      },
    }),
    // A hook of the route, because one of the application would have to look up the operation of each response.
    ...(observe !== undefined &&
      kind === 'stream' && {
        onResponse: (_request, reply, done) => {
          // A client that has disconnected received no response.
          if (!reply.raw.destroyed) observe(reply.statusCode, reply.elapsedTime)
          done()
        },
      }),
    ...handlers,
    handler: respond,
  })
}

/** Whether callers of an operation are identified. */
function isIdentified({ auth }: Operation): boolean {
  return auth !== 'public' && auth !== 'signature'
}

/** Calls the handler of an operation for a request. */
type Work<Result> = (request: FastifyRequest, reply: FastifyReply) => Promise<Result>

type RouteHandlers = Pick<
  RouteOptionsOfFastify,
  'handler' | 'preHandler' | 'wsHandler' | 'exposeHeadRoute'
>

/** Creates the handlers of a route, by response kind. */
type Responders<Spec extends Operation> = {
  [Kind in ResponseKind]: (work: Work<ResponseByKind<Spec>[Kind]>) => RouteHandlers
}

function respondWithJson<Spec extends Operation>(
  work: Work<ResponseByKind<Spec>['json']>,
  operation: Spec,
  context: HttpContext,
  { revision }: RouteOptions<Spec>,
): RouteHandlers {
  const check = context.checkResponses(operation)

  // Created for few operations only, because each reserves memory.
  const memory = revision === undefined ? undefined : createResponseCache()

  const send = (
    response: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
    state: string | undefined,
  ): void => {
    check?.(response)
    const status = reply.statusCode === 200 ? operation.status : reply.statusCode
    if (state === undefined) sendJson(reply, status, response)
    else {
      const text = JSON.stringify(response)
      memory?.keep(state, request.url, text)
      sendJsonText(reply, status, text)
    }
  }
  // Not an async function, for which the framework would do what is done here.
  const handle = (request: FastifyRequest, reply: FastifyReply): void => {
    const fail = (error: unknown) => {
      if (!reply.sent) reply.send(error instanceof Error ? error : new Error(String(error)))
    }
    try {
      const state = revision?.(request.actor as ActorByAuth[Spec['auth']])
      const known = state === undefined ? undefined : memory?.find(state, request.url)
      if (known !== undefined) return void sendJsonText(reply, operation.status, known)
      work(request, reply).then((response) => {
        try {
          if (response instanceof ContinueAt) reply.redirect(response.location, 307)
          else if (!reply.sent) send(response, request, reply, state)
        } catch (error) {
          fail(error)
        }
      }, fail)
    } catch (error) {
      fail(error)
    }
  }
  return { handler: handle }
}

function respondWithHeaders(work: Work<HeadersResponse>): RouteHandlers {
  return {
    handler: async (request, reply) => {
      const { status, headers } = await work(request, reply)
      return reply.code(status).headers(headers).send()
    },
  }
}

function respondWithDownload(work: Work<Download>): RouteHandlers {
  return {
    handler: async (request, reply) => {
      const download = await work(request, reply)
      const isHead = request.method === 'HEAD'
      if (download.readAt !== undefined && !isHead) {
        // The address expires before the permission to request it, so it must not be cached.
        return reply.header('cache-control', 'no-store').redirect(await download.readAt(), 307)
      }
      // The stream is opened first: if that fails, the response is an error with headers of its own.
      // HEAD gets an empty stream, because Fastify drains the stream that it gets and drops the length.
      const body = isHead ? Readable.from([]) : await download.open?.()
      if (body instanceof Buffer) {
        sendBytes(reply, download.status, download.headers, body)
        return reply
      }
      if (!isHead && body instanceof Readable) closeIfShort(reply, body, download.headers)
      return reply.code(download.status).headers(download.headers).send(body)
    },
  }
}

/**
 * Closes the connection if a body ends before its announced length, as that of a damaged content does:
 * otherwise the client would take the next responses for the rest.
 */
function closeIfShort(
  reply: FastifyReply,
  body: Readable,
  headers: HeadersResponse['headers'],
): void {
  const announced = Number(headers['content-length'] ?? 0)
  let bytes = 0
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  body.once('end', () => {
    if (bytes < announced) reply.raw.destroy()
  })
}

/** A request as its handler reads it. What only few handlers use is made on demand, by getters. */
class RequestCall<Spec extends Operation> implements Call<Spec> {
  readonly actor: ActorByAuth[Spec['auth']]
  readonly params: Params<Spec>
  readonly query: Query<Spec>
  readonly headers: Headers<Spec>
  readonly body: Body<Spec>
  readonly stream: IncomingMessage
  readonly isHead: boolean
  readonly once: Once<Output<Spec>>
  readonly #operation: Spec
  readonly #context: HttpContext
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply

  constructor(context: HttpContext, operation: Spec, request: FastifyRequest, reply: FastifyReply) {
    this.actor = request.actor as ActorByAuth[Spec['auth']]
    this.params = request.params as Params<Spec>
    this.query = request.query as Query<Spec>
    this.headers = request.headers as Headers<Spec>
    this.body = request.body as Body<Spec>
    this.stream = request.raw
    this.isHead = request.method === 'HEAD'
    this.#operation = operation
    this.#context = context
    this.#request = request
    this.#reply = reply
    const key = operation.idempotent ? idempotencyKeyOf(operation, request) : undefined
    this.once =
      key === undefined ? onceWithoutKey : onceWithKey(context, { operation, request, reply, key })
  }

  get signal(): AbortSignal {
    return abortSignalOf(this.#reply)
  }

  get pageOrigin(): string | undefined {
    return this.#request.pageOrigin
  }

  get beginSession(): Call<Spec>['beginSession'] {
    return (value, expiresAt) =>
      this.#context.sessionCookies?.set(this.#request, this.#reply, value, expiresAt)
  }

  get endSession(): Call<Spec>['endSession'] {
    return () => this.#context.sessionCookies?.clear(this.#request, this.#reply)
  }

  get browser(): Browser {
    const { sessionCookies } = this.#context
    const request = this.#request
    return {
      operation: this.#operation.id,
      address: callerAddress(request),
      isLocal: isLoopback(request.ip),
      userAgent: request.headers['user-agent'] ?? '',
      device: sessionCookies?.readDevice(request),
      signOn: sessionCookies?.readSignOn(request),
      // Refused from pages of other origins, so that only those who need it read it.
      get session() {
        return sessionCookies?.read(request)
      },
    }
  }

  get keepDevice(): Call<Spec>['keepDevice'] {
    return (value) => this.#context.sessionCookies?.keepDevice(this.#request, this.#reply, value)
  }

  get keepSignOn(): Call<Spec>['keepSignOn'] {
    return (value) => this.#context.sessionCookies?.keepSignOn(this.#request, this.#reply, value)
  }

  get countAs(): Call<Spec>['countAs'] {
    return (throttle, amount = 1) =>
      this.#context.countAs(throttle, amount, this.#request, this.#reply)
  }

  get setHeader(): Call<Spec>['setHeader'] {
    return (name, value) => void this.#reply.header(name, value)
  }
}

function rawQueryOf(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

function abortSignalOf(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  if (reply.raw.destroyed) controller.abort()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}

/**
 * Identifies the state that a response depends on: while it is unchanged, so is the response to the
 * same request. It includes the owner of the data, so that no caller gets the response of another.
 * Undefined where the state is not known; nothing is cached then.
 */
type Revision<Actor> = (actor: Actor) => string | undefined
