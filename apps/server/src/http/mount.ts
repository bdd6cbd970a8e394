import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { Body, Headers, Operation, Output, Params, Query } from '@botstead/contract'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteOptions as RouteOptionsOfFastify,
} from 'fastify'
import { LRUCache } from 'lru-cache'
import type { StartStream } from '../platform/streams/sink.js'
import type { ActorByAuth } from './auth.js'
import { discardUnreadBody, leavePaceToReader, observeResponse } from './connections/index.js'
import type { HttpContext } from './context.js'
import { type Once, onceWithKey, onceWithoutKey } from './once.js'
import { compileQueryReader } from './query.js'
import { streamHandlers } from './streams/index.js'

/** What a handler receives: validated, typed and with the caller identified. */
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
  /** Adds a header to the response. */
  setHeader(name: string, value: string): void
  /**
   * For operations with a `session`: signs the browser in.
   * @param expiresAt ISO 8601
   */
  beginSession(value: string, expiresAt: string): void
  /** For operations with a `session`: signs the browser out. */
  endSession(): void
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

/** What a handler returns, by the response kind of its operation. */
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

/** What a slice passes to the HTTP layer: its operations with their handlers. */
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
      request.query = readQuery(rawQueryOf(request.url))
      if (isUpload) {
        leavePaceToReader(request.raw)
        discardUnreadBody(request, reply)
      }
      if (observe !== undefined && kind === 'json') observeResponse(reply.raw, observe)
      context.admit(operation, request, reply, done)
    },
    // A hook of the route, because one of the application would have to look up the operation of each response.
    ...(observe !== undefined &&
      kind !== 'json' && {
        onResponse: (_request, reply, done) => {
          // A client that has disconnected received no response.
          if (!reply.raw.destroyed) observe(reply.statusCode, reply.elapsedTime)
          done()
        },
      }),
    ...responders[kind]((request, reply) =>
      handler(new RequestCall(context, operation, request, reply)),
    ),
  })
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

  const respond = async (request: FastifyRequest, reply: FastifyReply) => {
    const response = await work(request, reply)
    if (response instanceof ContinueAt) return reply.redirect(response.location, 307)
    check?.(response)
    if (!reply.sent && reply.statusCode === 200) reply.code(operation.status)
    return response
  }
  if (revision === undefined) return { handler: respond }

  const memory = createResponseCache()
  const respondFromMemory = async (
    request: FastifyRequest,
    reply: FastifyReply,
    state: string,
  ): Promise<string> => {
    const known = memory.find(state, request.url)
    const text = known ?? JSON.stringify(await respond(request, reply))
    if (known === undefined) memory.keep(state, request.url, text)
    reply.type('application/json; charset=utf-8')
    return text
  }
  return {
    handler: (request, reply) => {
      const state = revision(request.actor as ActorByAuth[Spec['auth']])
      return state === undefined
        ? respond(request, reply)
        : respondFromMemory(request, reply, state)
    },
  }
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

  get beginSession(): Call<Spec>['beginSession'] {
    return (value, expiresAt) =>
      this.#context.sessionCookies?.set(this.#request, this.#reply, value, expiresAt)
  }

  get endSession(): Call<Spec>['endSession'] {
    return () => this.#context.sessionCookies?.clear(this.#request, this.#reply)
  }

  get setHeader(): Call<Spec>['setHeader'] {
    return (name, value) => void this.#reply.header(name, value)
  }
}

/** The header, or else the member of the body that replaces it. */
function idempotencyKeyOf(operation: Operation, request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key']
  if (header !== undefined) return String(header)
  if (operation.idempotencyMember === undefined) return undefined
  const member: unknown = Reflect.get(Object(request.body), operation.idempotencyMember)
  return typeof member === 'string' ? member : undefined
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

/** Caches the texts of responses at the newest revision. */
interface ResponseCache {
  find(revision: string, url: string): string | undefined
  keep(revision: string, url: string, response: string): void
}

const maxCharacters = 8 * 1024 * 1024

interface CachedResponse {
  revision: string
  response: string
}

/** Polled lists are not read and serialized again while nothing has changed. */
function createResponseCache(): ResponseCache {
  const responses = new LRUCache<string, CachedResponse>({
    maxSize: maxCharacters,
    sizeCalculation: ({ response }, url) => response.length + url.length,
  })
  return {
    find: (revision, url) => {
      const cached = responses.get(url)
      return cached?.revision === revision ? cached.response : undefined
    },
    keep: (revision, url, response) => {
      responses.set(url, { revision, response })
    },
  }
}
