import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { Body, Headers, Operation, Output, Params, Query } from '@botstead/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { limitSettings } from '../config/limit-settings.js'
import type { StartStream } from '../platform/streams/sink.js'
import { createAnswerMemory, type Revision } from './answer-memory.js'
import type { ActorByAuth } from './auth.js'
import { leavePaceToReader } from './connections.js'
import type { HttpContext } from './context.js'
import { type Once, onceWithKey, onceWithoutKey } from './once.js'
import { compileQueryReader } from './query.js'
import { streamHandlers } from './streams.js'
import { discardUnreadBody } from './unread-body.js'

/** What a handler gets: validated, typed and with the caller known. */
interface Call<Spec extends Operation> {
  actor: ActorByAuth[Spec['auth']]
  params: Params<Spec>
  query: Query<Spec>
  headers: Headers<Spec>
  body: Body<Spec>
  /** Raw body of an `upload` operation. */
  stream: IncomingMessage
  /** Asks for the headers of a `download` alone. */
  isHead: boolean
  /** Aborts when the caller goes away. */
  signal: AbortSignal
  /** Adds a header to the answer. */
  setHeader(name: string, value: string): void
  /** For `idempotent` operations: does the work once per `Idempotency-Key`. */
  once: Once<Output<Spec>>
}

/** The answer of an `upload` operation whose content is to be sent to another address. */
export class ContinueAt {
  readonly location: string

  constructor(location: string) {
    this.location = location
  }
}

/** Raw answer of a `download` operation, or the headers of a `bare` one. */
interface Download {
  status: number
  headers: Record<string, string | number>
  /** Opens the body, for GET only: HEAD has the same headers and reads nothing. Absent without a body. */
  open?(): Promise<Readable>
  /** Where the body is read instead, for GET only. */
  readAt?(): Promise<string>
}

type Answer<Spec extends Operation> = Spec['stream'] extends string
  ? StartStream
  : Spec['download'] extends string
    ? Download
    : Spec['bare'] extends string
      ? Omit<Download, 'open'>
      : Spec['upload'] extends string
        ? Output<Spec> | ContinueAt
        : Output<Spec>

export type Handler<Spec extends Operation> = (call: Call<Spec>) => Promise<Answer<Spec>>

/** What a slice hands to the HTTP layer: its operations with their handlers. */
export interface Route {
  operation: Operation
  register(app: FastifyInstance, context: HttpContext): void
}

export interface RouteOptions<Spec extends Operation> {
  /** For operations whose answer follows from the actor's scope and the URL alone. */
  revision?: Revision<ActorByAuth[Spec['auth']]>
}

/** Joins an operation of the contract with the handler that does it. */
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
  { revision }: RouteOptions<Spec>,
): void {
  const readQuery = compileQueryReader(operation.query)
  const checkAnswer = context.checkAnswers(operation)
  const memory = createAnswerMemory()
  const observe = context.observe(operation)

  const answerTo = async (request: FastifyRequest, reply: FastifyReply) => {
    const answer = await handler(toCall(context, operation, request, reply))
    if (operation.download !== undefined) {
      return await sendDownload(request, reply, answer as Download)
    }
    if (operation.bare !== undefined) {
      const { status, headers } = answer as Download
      return reply.code(status).headers(headers).send()
    }
    if (answer instanceof ContinueAt) return reply.redirect(answer.location, 307)
    checkAnswer?.(answer)
    if (!reply.sent && reply.statusCode === 200) reply.code(operation.status)
    return answer
  }

  const answerFromMemory = async (
    request: FastifyRequest,
    reply: FastifyReply,
    state: string,
  ): Promise<string> => {
    const known = memory.find(state, request.url)
    const text = known ?? JSON.stringify(await answerTo(request, reply))
    if (known === undefined) memory.keep(state, request.url, text)
    reply.type('application/json; charset=utf-8')
    return text
  }

  app.route({
    method: operation.method,
    url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    bodyLimit: bodyLimitOf(operation, context),
    config: {
      isUpload: operation.upload !== undefined,
      bodySetting: limitSettings[isLarge(operation) ? 'adminBodyBytes' : 'bodyBytes'].name,
    },
    // A stream has no length and no end to tell of.
    ...(operation.stream !== undefined && { exposeHeadRoute: false }),
    schema: {
      ...(operation.params && { params: operation.params }),
      ...(operation.query && { querystring: operation.query }),
      ...(operation.headers && { headers: operation.headers }),
      ...(operation.body && { body: operation.body }),
    },
    onRequest: (request, reply, done) => {
      request.query = readQuery(rawQueryOf(request.url))
      if (operation.upload !== undefined) {
        leavePaceToReader(request.raw)
        discardUnreadBody(request, reply)
      }
      context.admit(operation, request, reply, done)
    },
    // Of the route and not of the application, so that nobody has to find out which operation it was.
    ...(observe && {
      onResponse: (_request, reply, done) => {
        // A client that has disconnected received no answer.
        if (!reply.raw.destroyed) observe(reply.statusCode, reply.elapsedTime)
        done()
      },
    }),
    handler: (request, reply) => {
      const state = revision?.(request.actor as ActorByAuth[Spec['auth']])
      if (state === undefined) return answerTo(request, reply)
      return answerFromMemory(request, reply, state)
    },
    ...(operation.stream !== undefined &&
      streamHandlers(
        async (request, reply) =>
          (await handler(toCall(context, operation, request, reply))) as StartStream,
      )),
  })
}

function toCall<Spec extends Operation>(
  context: HttpContext,
  operation: Spec,
  request: FastifyRequest,
  reply: FastifyReply,
): Call<Spec> {
  const key = operation.idempotent ? idempotencyKeyOf(operation, request) : undefined
  return {
    actor: request.actor as ActorByAuth[Spec['auth']],
    params: request.params as Params<Spec>,
    query: request.query as Query<Spec>,
    headers: request.headers as Headers<Spec>,
    body: request.body as Body<Spec>,
    stream: request.raw,
    isHead: request.method === 'HEAD',
    get signal() {
      return abortSignalOf(reply)
    },
    setHeader: (name, value) => void reply.header(name, value),
    once:
      key === undefined ? onceWithoutKey : onceWithKey(context, { operation, request, reply, key }),
  }
}

/** The header, or else the member of the body that stands for it. */
function idempotencyKeyOf(operation: Operation, request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key']
  if (header !== undefined) return String(header)
  if (operation.idempotencyMember === undefined) return undefined
  const member: unknown = Reflect.get(Object(request.body), operation.idempotencyMember)
  return typeof member === 'string' ? member : undefined
}

function bodyLimitOf(operation: Operation, context: HttpContext): number {
  // Streams are measured by whoever reads them.
  if (operation.upload !== undefined) return Number.MAX_SAFE_INTEGER
  return isLarge(operation) ? context.limits.largeBody : context.limits.smallBody
}

function isLarge({ bodyLimit }: Operation): boolean {
  return bodyLimit === 'large'
}

function rawQueryOf(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

async function sendDownload(request: FastifyRequest, reply: FastifyReply, download: Download) {
  if (download.readAt !== undefined && request.method !== 'HEAD') {
    // The address ends sooner than the permission to ask for it, so it is not to be kept.
    return reply.header('cache-control', 'no-store').redirect(await download.readAt(), 307)
  }
  // The stream comes first: when it cannot be opened, the answer is an error with headers of its own.
  // For HEAD an empty one stands in, because Fastify drains what it is given and forgets the length.
  const body = request.method === 'HEAD' ? Readable.from([]) : await download.open?.()
  return reply.code(download.status).headers(download.headers).send(body)
}

function abortSignalOf(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  if (reply.raw.destroyed) controller.abort()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}
