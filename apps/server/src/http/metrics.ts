import { timingSafeEqual } from 'node:crypto'
import { hostname } from 'node:os'
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

/** Access to the metrics. */
interface MetricsAccess {
  readonly access: 'off' | 'loopback' | 'public'
  /** Callers from anywhere may read the metrics with this token, unless they are off. */
  readonly token: string | undefined
}

/** Counts responses. One request costs three additions. */
export interface RequestMeter extends Metric {
  /** Returns a function that counts the requests of one operation, to be called when the response was sent. */
  of(operation: Operation): (status: number, milliseconds: number) => void
  /** Counts a response to a request that matches no operation. */
  unknown(status: number): void
}

/** Makes the counters and duration histograms of responses, all at zero. */
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
          help: 'Responses, by operation and class of the status.',
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
    help: 'Time from the head of a request to the end of its response; content is uploads and downloads. Streams are left out.',
    bounds,
    labels: { kind },
  })
}

/** Contents take as long as they are large; a stream lasts as long as its listener stays. */
function histogramOf(
  { upload, response }: Operation,
  calls: Histogram,
  contents: Histogram,
): Histogram | undefined {
  if (response.kind === 'stream') return undefined
  return upload !== undefined || response.kind === 'download' ? contents : calls
}

function countStatus(counts: Float64Array, status: number): void {
  const at = Math.floor(status / 100) - 1
  counts[at] = (counts[at] ?? 0) + 1
}

/** Operations without calls have no samples. */
function toSamples(operation: string, counts: Float64Array): Sample[] {
  return classes.flatMap((status, at) => {
    const value = counts[at] ?? 0
    return value > 0 ? [{ labels: { operation, status }, value }] : []
  })
}

/** Milliseconds for which all callers get the same text, so that frequent scraping costs no more. */
const freshMilliseconds = 1000

/**
 * Mounts `GET /metrics` for callers that the operator allows. Clients of the API have no use for it, so
 * it is not an operation of the contract.
 *
 * @param render renders the metrics
 */
export function mountMetrics(
  app: FastifyInstance,
  { admitUnmatched }: Pick<HttpContext, 'admitUnmatched'>,
  { access, token }: MetricsAccess,
  render: () => Promise<string>,
): void {
  if (access === 'off') return
  let text: Promise<string> | undefined
  /** Undefined while it is rendered, which takes long where the database is slow: more at a time would not help. */
  let madeAt: number | undefined
  const admit: HttpContext['admitUnmatched'] = (request, reply, done) => {
    if (access === 'public' || isLocalRequest(request) || hasToken(request, token)) return done()
    admitUnmatched(request, reply, (limited) => done(limited ?? metricsForbidden()))
  }
  app.get('/metrics', { onRequest: admit }, async (_request, reply: FastifyReply) => {
    const isOld = madeAt !== undefined && performance.now() - madeAt > freshMilliseconds
    if (text === undefined || isOld) {
      madeAt = undefined
      text = render().finally(() => {
        madeAt = performance.now()
      })
    }
    return reply
      .type(metricsType)
      .header('cache-control', 'no-store')
      .send(await text)
  })
}

function metricsForbidden(): ApiError {
  return new ApiError(
    'Forbidden',
    'Metrics are for callers on the same machine (without a proxy), or with the token of BOTSTEAD_METRICS_TOKEN.',
  )
}

/** Whether a request is from this machine, and not from a proxy or a web page on it. */
function isLocalRequest({ ip, headers, socket }: FastifyRequest): boolean {
  const isPassedOn =
    headers.forwarded ?? headers['x-forwarded-for'] ?? headers['x-real-ip'] ?? headers.via
  const isPage = headers.origin ?? headers['sec-fetch-site']
  if (isPassedOn !== undefined || isPage !== undefined || !isOwnName(headers.host)) return false
  return isLoopback(ip) && isLoopback(socket.remoteAddress ?? '')
}

/**
 * Whether a Host is one that programs on this machine use: many proxies add nothing but the name that they were asked
 * for, and the name of a web page may lead here too.
 */
function isOwnName(host = 'localhost'): boolean {
  const name = host.toLowerCase().replace(/:\d+$/, '')
  const address = name.replace(/^\[(.*)\]$/, '$1')
  return name === 'localhost' || name === hostname().toLowerCase() || isLoopback(address)
}

function hasToken({ headers }: FastifyRequest, token: string | undefined): boolean {
  if (token === undefined) return false
  const given = Buffer.from(/^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '')
  const expected = Buffer.from(token)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
