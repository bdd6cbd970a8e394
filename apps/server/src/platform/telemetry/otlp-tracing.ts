import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Context,
  SpanKind as OtelKind,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  type SpanContext,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { OutageLog } from './log.js'
import {
  createSpanCache,
  readTraceparent,
  type Span,
  type SpanKind,
  type Tracing,
} from './tracing.js'

/** Sampling and export of traces, from the `OTEL_*` variables. */
export interface TracingOptions {
  /** Address that batches are posted to. */
  readonly url: string
  /** Headers of these requests: they may contain a credential. */
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds for one batch, retries included. */
  readonly timeoutMs: number
  readonly isCompressed: boolean
  /** Describes this process, such as `service.name`. */
  readonly resource: Readonly<Record<string, string>>
  readonly sampler: {
    readonly base: 'always_on' | 'always_off' | 'traceidratio'
    /** Whether the decision of whoever began the trace is kept. */
    readonly isParentBased: boolean
    /** 0 to 1. */
    readonly ratio: number
  }
}

/** Spans that wait for the collector; more are dropped, so that a collector that hangs costs no memory. */
const maxWaiting = 2048
const batchSize = 512
/** Maximum time in milliseconds that a span waits for its batch. */
const batchMs = 2000
const maxAttributeLength = 256
const maxLinks = 16

const kinds: Record<SpanKind, OtelKind> = {
  internal: OtelKind.INTERNAL,
  server: OtelKind.SERVER,
  client: OtelKind.CLIENT,
  producer: OtelKind.PRODUCER,
  consumer: OtelKind.CONSUMER,
}

/**
 * Makes traces and sends them to a collector by OTLP over HTTP, in the background. Nothing is registered globally, so
 * that several servers of one process have traces of their own.
 */
export function createOtlpTracing(options: TracingOptions, outages: OutageLog): Tracing {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ ...options.resource }),
    sampler: samplerOf(options.sampler),
    spanLimits: { attributeValueLengthLimit: maxAttributeLength, linkCountLimit: maxLinks },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: withOutages(exporterOf(options), outages),
        maxQueueSize: maxWaiting,
        maxExportBatchSize: batchSize,
        scheduledDelayMillis: batchMs,
        exportTimeoutMillis: options.timeoutMs,
      }),
    ],
  })
  const tracer = provider.getTracer('botstead')
  const storage = new AsyncLocalStorage<OtelSpan | undefined>()

  function toSpan(span: OtelSpan): Span {
    return {
      traceparent: toTraceparent(span.spanContext()),
      set: (attributes) => void span.setAttributes(attributes),
      fail(type) {
        span.setAttribute('error.type', type)
        span.setStatus({ code: SpanStatusCode.ERROR })
      },
      link(traceparent) {
        const context = toSpanContext(traceparent)
        if (context !== undefined) span.addLink({ context })
      },
      run: (work) => storage.run(span, work),
      end: () => span.end(),
    }
  }

  function parentOf(traceparent: string | null | undefined): Context {
    const given = toSpanContext(traceparent)
    if (given !== undefined) return trace.setSpanContext(ROOT_CONTEXT, given)
    const current = storage.getStore()
    return current === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, current)
  }

  return {
    signals: createSpanCache<Span>(),
    delivered: createSpanCache<string>(),
    begin: (name, { kind, attributes = {}, parent }) =>
      toSpan(
        tracer.startSpan(
          name,
          { kind: kinds[kind], attributes: { ...attributes } },
          parentOf(parent),
        ),
      ),
    current() {
      const span = storage.getStore()
      return span && toTraceparent(span.spanContext())
    },
    currentIds() {
      const span = storage.getStore()
      if (span === undefined) return undefined
      const { traceId, spanId } = span.spanContext()
      return { trace_id: traceId, span_id: spanId }
    },
    bind(work) {
      const span = storage.getStore()
      return (...args) => storage.run(span, () => work(...args))
    },
    detach: (work) => storage.run(undefined, work),
    async close(milliseconds) {
      storage.disable()
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, milliseconds)
      })
      await Promise.race([provider.shutdown().catch(() => {}), late])
      clearTimeout(timer)
    },
    async [Symbol.asyncDispose]() {
      await this.close(0)
    },
  }
}

function exporterOf({ url, headers, timeoutMs, isCompressed }: TracingOptions): SpanExporter {
  return new OTLPTraceExporter({
    url,
    headers: { ...headers },
    timeoutMillis: timeoutMs,
    compression: isCompressed ? CompressionAlgorithm.GZIP : CompressionAlgorithm.NONE,
  })
}

/** Reports when the collector cannot be reached, and when it can again. */
function withOutages(exporter: SpanExporter, outages: OutageLog): SpanExporter {
  const flush = exporter.forceFlush?.bind(exporter)
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error === undefined) outages.worked('traces')
        else outages.failed('traces', result.error)
        done(result)
      })
    },
    ...(flush && { forceFlush: flush }),
    shutdown: () => exporter.shutdown(),
  }
}

function samplerOf({ base, isParentBased, ratio }: TracingOptions['sampler']): Sampler {
  const root = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  }[base]()
  return isParentBased ? new ParentBasedSampler({ root }) : root
}

function toTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`
}

function toSpanContext(traceparent: string | null | undefined): SpanContext | undefined {
  const read = readTraceparent(traceparent)
  return (
    read && {
      traceId: read.traceId,
      spanId: read.spanId,
      traceFlags: read.isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
      isRemote: true,
    }
  )
}
