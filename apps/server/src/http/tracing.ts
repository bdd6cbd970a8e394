import { contract, type Operation } from '@botstead/contract'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Tracing } from '../platform/telemetry/tracing.js'

/** Makes a span of each request. */
export interface RequestTracer {
  /** Returns what traces the requests of an operation; undefined for those that are not traced. */
  of(operation: Operation): RouteTracer | undefined
  /** @param path with `:name` for one segment, and `*` for the rest */
  ofRoute(path: string): RouteTracer
}

interface RouteTracer {
  /**
   * Begins the span of a request, which continues the trace of the caller and ends with the response. Paths and queries
   * may contain credentials, so only the route is kept.
   */
  begin(request: FastifyRequest, reply: FastifyReply): void
  /** Runs work in the span of a request. */
  continue<T>(request: FastifyRequest, work: () => T): T
  /** Returns a handler that runs in the span: reading a body leaves the asynchronous context of the hooks. */
  around(handler: RouteOptions['handler']): RouteOptions['handler']
}

const probes = new Set<string>([contract.service.health.id, contract.service.readiness.id])

export function createRequestTracer(tracing: Tracing): RequestTracer {
  function ofRoute(path: string): RouteTracer {
    const route: RouteTracer = {
      begin(request, reply) {
        const { method, headers, protocol, id } = request
        const { traceparent } = headers
        const span = tracing.begin(`${method} ${path}`, {
          kind: 'server',
          parent: typeof traceparent === 'string' ? traceparent : undefined,
          attributes: {
            'http.request.method': method,
            'http.route': path,
            'url.scheme': protocol,
            'botstead.request.id': id,
          },
        })
        request.span = span
        reply.raw.once('close', () => {
          const { statusCode, writableFinished } = reply.raw
          span.set({ 'http.response.status_code': statusCode })
          if (!writableFinished) span.fail('disconnected')
          else if (statusCode >= 500) span.fail(String(statusCode))
          span.end()
        })
      },
      continue(request, work) {
        const { span } = request
        if (span === undefined) return work()
        linkToDelivery(tracing, request)
        return span.run(work)
      },
      around: (handler) =>
        function (request, reply) {
          return route.continue(request, () => handler.call(this, request, reply))
        },
    }
    return route
  }

  return {
    ofRoute,
    of({ id, path, response }) {
      // Streams last for as long as their listener stays, and probes are made all the time.
      return response.kind === 'stream' || probes.has(id) ? undefined : ofRoute(path)
    },
  }
}

/** A bot that does not pass the trace on: its call refers to the last delivery about the conversation that it names. */
function linkToDelivery(tracing: Tracing, { headers, body, actor, span }: FastifyRequest): void {
  if (headers.traceparent !== undefined || actor?.kind !== 'bot') return
  const id: unknown = Object(body).conversationId
  const delivery = typeof id === 'string' ? tracing.delivered.get(id) : undefined
  if (delivery !== undefined) span?.link(delivery)
}
