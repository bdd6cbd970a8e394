import type { EventBus } from '../bus/event-bus.js'
import type { Run } from '../db/schema.js'
import { createLruCache } from '../lru-cache.js'
import type { Outgoing, OutgoingRequest, OutgoingResponse } from '../outgoing/outgoing.js'

/** Kinds of spans, as in OpenTelemetry. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer'

/** Attributes, named by the semantic conventions. They never contain texts of messages or secrets. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** Properties of a span at its start. */
interface SpanStart {
  kind: SpanKind
  attributes?: SpanAttributes
  /**
   * A `traceparent` from elsewhere, which the span continues; one that is not well-formed is ignored.
   * Without it the span is part of the current one, or begins a trace.
   */
  parent?: string | null | undefined
}

/** A unit of work in a trace. Once it has ended, calls have no effect. */
export interface Span {
  /** Its `traceparent`, for those who continue the trace: 55 characters. */
  readonly traceparent: string
  set(attributes: SpanAttributes): void
  /** Marks the span as failed. */
  fail(type: string): void
  /** Refers to a span that led to this one without being its parent. */
  link(traceparent: string): void
  /** Runs work in which this is the current span. */
  run<T>(work: () => T): T
  /** Ends the span, which is then sent. A span without an end is never sent. */
  end(): void
}

/** The fields of log lines that name the current span. */
interface SpanIds {
  trace_id: string
  span_id: string
}

/** Spans by a key, under which another part of this process finds them. It has a limit, and drops the oldest. */
export interface SpanCache<Value> {
  put(key: string, value: Value): void
  /** Returns the value under the key, and removes it. */
  take(key: string): Value | undefined
  get(key: string): Value | undefined
}

/** Entries of a span cache. */
const maxCached = 1000

export function createSpanCache<Value extends {}>(): SpanCache<Value> {
  const cache = createLruCache<string, Value>(maxCached)
  return {
    put: (key, value) => void cache.set(key, value),
    take(key) {
      const value = cache.get(key)
      cache.delete(key)
      return value
    },
    get: (key) => cache.get(key),
  }
}

/** The tracer of this process. Where tracing is off, there is none, and nothing is called. */
export interface Tracing extends AsyncDisposable {
  begin(name: string, start: SpanStart): Span
  /** The `traceparent` of the current span; undefined outside of all. */
  current(): string | undefined
  /** The ids of the current span for a log line. */
  currentIds(): SpanIds | undefined
  /** Binds a function to the current span, or to none, whoever calls it later. */
  bind<Args extends unknown[], T>(work: (...args: Args) => T): (...args: Args) => T
  /** Runs work without a current span, because what it starts serves other callers too. */
  detach<T>(work: () => T): T
  /** Spans of events that listeners of this process have not received yet, by {@link signalKey}. */
  readonly signals: SpanCache<Span>
  /** `traceparent` of the last delivery about a conversation, by the id of the conversation. */
  readonly delivered: SpanCache<string>
  /** Sends the spans that have ended, for at most `milliseconds`. */
  close(milliseconds: number): Promise<void>
}

/** The key of the span of an event. */
export function signalKey(stream: string, sequence: number): string {
  return `${stream}/${sequence}`
}

/** Name of the server as a messaging system, in attributes. */
const system = 'botstead'

/** A queue of the server, as a destination of messages. */
export type Destination = 'deliveries' | 'jobs' | 'signals'

/** The attributes of a message that is put into a queue, or taken out of it. */
export function messagingAttributes(
  operation: 'send' | 'process',
  destination: Destination,
  more: SpanAttributes,
): SpanAttributes {
  return {
    'messaging.system': system,
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    'messaging.destination.name': destination,
    ...more,
  }
}

/** Returns a function that runs transactions like the given one, with a span for each that is part of a trace. */
export function traceTransactions(
  tracing: Tracing,
  run: Run,
  system: 'sqlite' | 'postgresql',
): Run {
  const attributes = { 'db.system.name': system }
  return async (work, options) => {
    // Transactions of several callers share a commit, and run where the first of them began it.
    if (tracing.current() === undefined) return await run(tracing.bind(work), options)
    const span = tracing.begin('transaction', { kind: 'internal', attributes })
    let commit: Span | undefined
    try {
      return await span.run(() =>
        run(
          tracing.bind(async (tx) => {
            const result = await work(tx)
            // A transaction may be repeated; then the last commit is the one that is traced.
            commit = tracing.begin('COMMIT', {
              kind: 'client',
              attributes: { ...attributes, 'db.operation.name': 'COMMIT' },
            })
            return result
          }),
          options,
        ),
      )
    } catch (error) {
      span.fail(errorType(error))
      throw error
    } finally {
      commit?.end()
      span.end()
    }
  }
}

/** Returns a bus like the given one, whose subscribers do not become part of the trace of the publisher. */
export function detachBus(tracing: Tracing, bus: EventBus): EventBus {
  return {
    publish: (hint) => tracing.detach(() => bus.publish(hint)),
    subscribe: (...subscription) => bus.subscribe(...subscription),
    [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose](),
  }
}

/**
 * Returns calls like the given ones, with a span for each that is part of a trace, which the receiver is given as
 * `traceparent`. Addresses are left out except for the host, because their paths may be secrets.
 */
export function traceOutgoing(tracing: Tracing, outgoing: Outgoing): Outgoing {
  return {
    send: (url, request) =>
      traceCall(
        tracing,
        request,
        () => serverOf(url),
        (traced) => outgoing.send(url, traced),
      ),
    [Symbol.asyncDispose]: () => outgoing[Symbol.asyncDispose](),
  }
}

/** Sends one request with a span and its `traceparent`; outside of a trace, sends it unchanged. */
export async function traceCall(
  tracing: Tracing,
  request: OutgoingRequest,
  describe: () => SpanAttributes,
  send: (request: OutgoingRequest) => Promise<OutgoingResponse>,
): Promise<OutgoingResponse> {
  if (tracing.current() === undefined) return await send(request)
  const span = tracing.begin(request.method, {
    kind: 'client',
    attributes: { 'http.request.method': request.method, ...describe() },
  })
  const { traceparent } = span
  try {
    const response = await span.run(() =>
      send({ ...request, headers: { ...request.headers, traceparent } }),
    )
    span.set({ 'http.response.status_code': response.status })
    if (response.status >= 400) span.fail(String(response.status))
    return response
  } catch (error) {
    span.fail(errorType(error))
    throw error
  } finally {
    span.end()
  }
}

function serverOf(url: string): SpanAttributes {
  if (!URL.canParse(url)) return {}
  const { protocol, hostname, port } = new URL(url)
  const usual = protocol === 'https:' ? 443 : 80
  return {
    'url.scheme': protocol.slice(0, -1),
    'server.address': hostname,
    'server.port': port === '' ? usual : Number(port),
  }
}

/** The value of `error.type` for an error. Its message is left out, because it may quote data. */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  if ('failure' in error && typeof error.failure === 'string') return error.failure
  return error.name === 'Error' ? error.constructor.name : error.name
}

/** The parts of a `traceparent`. */
interface TraceParent {
  traceId: string
  spanId: string
  isSampled: boolean
}

const traceparentPattern = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/
/** Maximum length of a header that is parsed: later versions may be longer than the 55 characters of version 00. */
const maxTraceparent = 128

/** Reads a `traceparent` of W3C Trace Context; undefined for what the standard says to ignore. */
export function readTraceparent(text: string | null | undefined): TraceParent | undefined {
  if (text == null || text.length > maxTraceparent) return undefined
  const [, version, traceId, spanId, flags = '', rest] = traceparentPattern.exec(text) ?? []
  if (traceId === undefined || spanId === undefined || version === 'ff') return undefined
  if (version === '00' && rest !== undefined) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}
