import { timingSafeEqual } from 'node:crypto'
import { ApiError, type Operation } from '@botstead/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  createHistogram,
  type Histogram,
  type Metric,
  metricsType,
  type Sample,
} from '../platform/telemetry/metrics.js'
import { isLoopback } from './caller-address.js'
import type { HttpContext } from './context.js'

const classes = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const
/** Seconds. */
const callBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const contentBounds = [0.01, 0.05, 0.25, 1, 5, 30, 120, 600]

/** Who may read the metrics. */
interface MetricsAccess {
  readonly access: 'off' | 'loopback' | 'public'
  /** With it, callers from anywhere may, unless it is off. */
  readonly token: string | undefined
}

/** Counts answers. What one request costs is three additions. */
export interface RequestMeter extends Metric {
  /** What counts the requests of one operation, called when the answer has gone out. */
  of(operation: Operation): (status: number, milliseconds: number) => void
  /** Counts an answer to what is no operation. */
  unknown(status: number): void
}

export function createRequestMeter(): RequestMeter {
  const calls = durations('call', callBounds)
  const contents = durations('content', contentBounds)
  const counts = new Map<string, Float64Array>()
  const countsOf = (name: string): Float64Array => {
    const known = counts.get(name) ?? new Float64Array(classes.length)
    counts.set(name, known)
    return known
  }
  const unknown = countsOf('unknown')

  return {
    of(operation) {
      const own = countsOf(operation.id)
      const histogram = histogramOf(operation, calls, contents)
      return (status, milliseconds) => {
        countStatus(own, status)
        histogram?.record(milliseconds / 1000)
      }
    },
    unknown: (status) => countStatus(unknown, status),
    async collect() {
      const families = [...(await calls.collect()), ...(await contents.collect())]
      return [
        {
          name: 'botstead_http_requests_total',
          help: 'Answered requests, by operation and class of the status.',
          type: 'counter',
          samples: [...counts].flatMap(([operation, own]) => toSamples(operation, own)),
        },
        ...families,
      ]
    },
  }
}

function durations(kind: string, bounds: readonly number[]): Histogram {
  return createHistogram({
    name: 'botstead_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer; content is uploads and downloads. Streams are left out.',
    bounds,
    labels: { kind },
  })
}

/** Contents take as long as they are large; a stream lasts as long as somebody listens. */
function histogramOf(
  { upload, answer }: Operation,
  calls: Histogram,
  contents: Histogram,
): Histogram | undefined {
  if (answer.kind === 'stream') return undefined
  return upload !== undefined || answer.kind === 'download' ? contents : calls
}

function countStatus(counts: Float64Array, status: number): void {
  const at = Math.floor(status / 100) - 1
  counts[at] = (counts[at] ?? 0) + 1
}

/** Operations that nobody has called have no samples. */
function toSamples(operation: string, counts: Float64Array): Sample[] {
  return classes.flatMap((status, at) => {
    const value = counts[at] ?? 0
    return value > 0 ? [{ labels: { operation, status }, value }] : []
  })
}

/** Milliseconds for which all who ask get the same text: asking often must not cost more. */
const freshFor = 1000

/**
 * `GET /metrics`, for those that the operator lets in. It is of no use to callers of the interface, so
 * that it is no operation of it.
 *
 * @param render makes the text
 */
export function mountMetrics(
  app: FastifyInstance,
  { admitAnybody }: Pick<HttpContext, 'admitAnybody'>,
  { access, token }: MetricsAccess,
  render: () => Promise<string>,
): void {
  if (access === 'off') return
  let text: Promise<string> | undefined
  let madeAt = 0
  const admit: HttpContext['admitAnybody'] = (request, reply, done) => {
    if (access === 'public' || isFromHere(request) || hasToken(request, token)) return done()
    admitAnybody(request, reply, (limited) => done(limited ?? notForThem()))
  }
  app.get('/metrics', { onRequest: admit }, async (_request, reply: FastifyReply) => {
    const now = performance.now()
    if (text === undefined || now - madeAt > freshFor) {
      text = render()
      madeAt = now
    }
    return reply
      .type(metricsType)
      .header('cache-control', 'no-store')
      .send(await text)
  })
}

function notForThem(): ApiError {
  return new ApiError(
    'Forbidden',
    'Metrics are for callers on the same machine (without a proxy), or with the token of BOTSTEAD_METRICS_TOKEN.',
  )
}

/** What a proxy or a web page sends through this machine is not from this machine. */
function isFromHere({ ip, headers, socket }: FastifyRequest): boolean {
  const isPassedOn =
    headers.forwarded ?? headers['x-forwarded-for'] ?? headers['x-real-ip'] ?? headers.via
  const isPage = headers.origin ?? headers['sec-fetch-site']
  if (isPassedOn !== undefined || isPage !== undefined) return false
  return isLoopback(ip) && isLoopback(socket.remoteAddress ?? '')
}

function hasToken({ headers }: FastifyRequest, token: string | undefined): boolean {
  if (token === undefined) return false
  const given = Buffer.from(/^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '')
  const expected = Buffer.from(token)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
