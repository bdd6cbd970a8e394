import { ApiError } from '@botstead/contract'
import type { RawRequest, RawResponse } from '../../../http/raw-routes.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import { OutgoingError, type OutgoingResponse } from '../../../platform/outgoing/outgoing.js'
import {
  builtInChat,
  findInstallationByWebhook,
  type InstallationRow,
  patchInstallation,
} from '../../bots/installations/index.js'
import type { IntegrationLogs } from '../../bots/integrations/index.js'
import type { Feature } from '../../feature.js'
import { type CallDeps, detailOf, reasonOf, sendCall } from '../requests/index.js'
import { type IntegrationTargetDeps, targetOfInstallation } from '../targets/index.js'

export interface WebhooksDeps extends CallDeps {
  db: Db
  run: Run
  sealer: IntegrationTargetDeps['sealer']
  integrations: IntegrationTargetDeps['integrations'] & { logs: Pick<IntegrationLogs, 'writeLine'> }
}

/** Most bytes of a body. Integrations are called with texts only, which are held in memory. */
const maxBodyBytes = 4 * 1024 * 1024
const maxResponseBytes = 4 * 1024 * 1024
/** Trace headers of a request; integrations propagate them. */
const traceHeaders = ['traceparent', 'tracestate']
/**
 * Headers that describe one connection rather than the response, or that the server sets itself.
 */
const notRelayed = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'date',
  'x-request-id',
])

/** Why there is no response of an integration to relay. */
class NoResponseError extends Error {
  override name = 'NoResponseError'
  /** Whether the integration took too long. */
  readonly late: boolean

  constructor(reason: string, { late = false, cause }: { late?: boolean; cause?: unknown } = {}) {
    super(reason, { cause })
    this.late = late
  }
}

/** A request at the public address of an installation. */
interface WebhookRequest {
  webhookId: string
  method: string
  /** What follows the webhook id, with a slash before it. */
  path: string
  /** As received, without the question mark. */
  query: string
  headers: Record<string, string>
  body: string | undefined
}

/**
 * Requests from outside, at the public addresses of installations: `/webhooks/<webhook id>/...`. Each is passed
 * to the integration that is installed there, and its response is returned.
 */
export function createWebhooks(deps: WebhooksDeps): Feature {
  const { db, run, integrations } = deps

  async function call(row: InstallationRow, request: WebhookRequest): Promise<OutgoingResponse> {
    const target = await targetOfInstallation(deps, row)
    if (target === undefined) throw new NoResponseError('The integration has no address.')
    const { webhookId: _, ...req } = request
    const operation = 'webhook_received'
    const headers = Object.fromEntries(
      traceHeaders.flatMap((name) => {
        const value = request.headers[name]
        return value === undefined ? [] : [[name, value]]
      }),
    )
    const body = JSON.stringify({ req })
    try {
      return await sendCall(
        deps,
        target,
        { operation, type: operation, body, headers },
        maxResponseBytes,
      )
    } catch (error) {
      if (!(error instanceof OutgoingError)) throw error
      throw new NoResponseError(detailOf(error), {
        late: error.failure === 'timeout',
        cause: error,
      })
    }
  }

  function logFailure({ integration_id, bot_id }: InstallationRow, reason: string): void {
    integrations.logs.writeLine({
      integrationId: integration_id,
      botId: bot_id,
      level: 'error',
      message: `webhook failed: ${reason}`,
    })
  }

  async function receive(request: WebhookRequest, requestId: string): Promise<RawResponse> {
    const row = await findInstallationByWebhook(db, request.webhookId)
    if (row === undefined || row.enabled !== 1 || row.integration_id === builtInChat.id) {
      throw new ApiError(
        'ResourceNotFound',
        `There is no webhook ${request.webhookId}, or its integration is switched off.`,
      )
    }
    let response: OutgoingResponse
    try {
      response = await call(row, request)
      if (response.cut) {
        throw new NoResponseError(`Its response has more than ${maxResponseBytes} bytes.`)
      }
    } catch (error) {
      if (!(error instanceof NoResponseError)) throw error
      logFailure(row, `${error.message} (request ${requestId})`)
      throw withoutReason(error)
    }
    if (response.status >= 400) {
      logFailure(row, `status ${response.status}: ${reasonOf(response.body)}`)
    }
    const identifier = response.headers['x-bp-integration-identifier']
    if (typeof identifier === 'string' && identifier !== row.identifier) {
      await run((tx) => patchInstallation(tx, row.bot_id, row.alias, { identifier }))
    }
    return { status: response.status, headers: relayed(response.headers), body: response.body }
  }

  return {
    name: 'webhooks',
    rawRoutes: [
      {
        paths: ['/webhooks/:webhookId', '/webhooks/:webhookId/*'],
        bodyLimit: maxBodyBytes,
        handle: async (request) => await receive(toWebhookRequest(request), request.requestId),
      },
    ],
  }
}

function toWebhookRequest({ url, method, headers, body }: RawRequest): WebhookRequest {
  // The part after the id belongs to the integration, and is neither decoded nor normalized.
  const parts = /^\/+webhooks\/+([^/?]*)([^?]*)(?:\?(.*))?$/s.exec(url)
  const [, id = '', path = '', query = ''] = parts ?? []
  const shared = { method, query, headers, body: body && textOf(body) }
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

function textOf(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    throw new ApiError(
      'UnsupportedMediaType',
      'The body of a webhook must be text in UTF-8: integrations are called with texts only.',
    )
  }
}

function relayed(headers: OutgoingResponse['headers']): RawResponse['headers'] {
  const kept: RawResponse['headers'] = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !notRelayed.has(name) && !name.startsWith('x-bp-')) {
      kept[name] = value
    }
  }
  return kept
}

/**
 * Anyone may call a webhook, and the reason may contain addresses of the server's network. The
 * operator and the owner of the integration find it in the log, by the request id.
 */
function withoutReason(cause: NoResponseError): ApiError {
  const where = 'The log of the integration records the reason with the id of this response.'
  return cause.late
    ? new ApiError('OperationTimeout', `The integration did not respond in time. ${where}`, {
        cause,
      })
    : new ApiError('Runtime', `The integration did not respond. ${where}`, { status: 502, cause })
}
