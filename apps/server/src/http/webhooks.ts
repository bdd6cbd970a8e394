import { ApiError, type Operation } from '@botstead/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WebhookAnswer, WebhookRequest } from '../domain/webhooks.js'
import type { HttpContext } from './context.js'

/** Responds to requests at `/webhooks/<webhook id>/...`. */
export interface WebhookReceiver {
  receive(request: WebhookRequest): Promise<WebhookAnswer>
}

/** Bytes of a body. Integrations are called with texts only, which are held in memory. */
const bodyLimit = 4 * 1024 * 1024

/** For metrics and admission. Not in the contract: integrations define the methods and paths of their webhooks. */
const operation: Operation = {
  id: 'receiveWebhook',
  method: 'POST',
  path: '/webhooks/{webhookId}',
  tag: 'Integrations',
  summary: 'Hand a request to an integration',
  auth: 'public',
  answer: { kind: 'download', description: 'What the integration answers.' },
  status: 200,
  errors: [],
}

/**
 * The public addresses of installations, which is all that HTTP knows of integrations: the receiver interprets
 * the request. Integrations define bodies, methods, paths and responses, CORS preflights included.
 */
export async function mountWebhooks(
  app: FastifyInstance,
  context: Pick<HttpContext, 'admit'>,
  receiver: WebhookReceiver,
): Promise<void> {
  await app.register(async (webhooks) => {
    webhooks.removeAllContentTypeParsers()
    webhooks.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) =>
      done(null, body),
    )
    for (const url of ['/webhooks/:webhookId', '/webhooks/:webhookId/*']) {
      webhooks.route({
        method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
        url,
        bodyLimit,
        exposeHeadRoute: false,
        config: { isUpload: false, cors: false },
        onRequest: (request, reply, done) => context.admit(operation, request, reply, done),
        handler: async (request, reply) => {
          const answer = await receiver.receive(toWebhook(request))
          return reply.code(answer.status).headers(answer.headers).send(answer.body)
        },
      })
    }
  })
}

function toWebhook(request: FastifyRequest) {
  // The raw address: the part after the id belongs to the integration and must not be decoded or normalized.
  const parts = /^\/+webhooks\/+([^/?]*)([^?]*)(?:\?(.*))?$/s.exec(request.raw.url ?? '')
  const [, id = '', path = '', query = ''] = parts ?? []
  const { method } = request
  const headers = textHeaders(request)
  const shared = { method, query, headers, body: bodyOf(request), requestId: request.id }
  // One address for all installations, as OAuth providers require: the state identifies the installation.
  if (id === 'oauth') {
    const webhookId = new URLSearchParams(query).get('state') ?? ''
    return { ...shared, webhookId, path: `/oauth${path}` }
  }
  return { ...shared, webhookId: decode(id), path: path === '' ? '/' : path }
}

function decode(id: string): string {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

function textHeaders({ headers }: FastifyRequest): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
}

function bodyOf({ body }: FastifyRequest): string | undefined {
  if (!(body instanceof Buffer) || body.length === 0) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    throw new ApiError(
      'UnsupportedMediaType',
      'The body of a webhook must be text in UTF-8: integrations are called with texts only.',
    )
  }
}
