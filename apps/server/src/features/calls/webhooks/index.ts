import { ApiError } from '@botstead/contract'
import type { WebhookAnswer, WebhookRequest } from '../../../domain/webhooks.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import { type OutgoingAnswer, OutgoingError } from '../../../platform/outgoing/outgoing.js'
import {
  builtInChat,
  findInstallationByWebhook,
  type InstallationRow,
  patchInstallation,
} from '../../bots/installations/index.js'
import type { IntegrationLogs } from '../../bots/integrations/index.js'
import { type CallDeps, reasonOf, sendCall } from '../requests/index.js'
import { type IntegrationTargetDeps, targetOfInstallation } from '../targets/index.js'

export interface WebhooksDeps extends CallDeps {
  db: Db
  run: Run
  sealer: IntegrationTargetDeps['sealer']
  integrations: IntegrationTargetDeps['integrations'] & { logs: Pick<IntegrationLogs, 'writeLine'> }
}

/** Requests from outside, at the public addresses of installations. */
export interface Webhooks {
  /** Passes a request to the integration that is installed there, and returns its response. */
  receive(request: WebhookRequest): Promise<WebhookAnswer>
}

const maxResponseBytes = 4 * 1024 * 1024
/** Trace headers of a request; integrations propagate them. */
const traceHeaders = ['traceparent', 'tracestate']
/**
 * Headers that describe one connection rather than the response, or that the server sets itself.
 */
const notRelayed = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'content-length', 'date', 'x-request-id'],
])

/** Why there is no response of an integration to relay. */
class NoResponseError extends Error {
  override name = 'NoResponseError'
  readonly late: boolean

  constructor(reason: string, { late = false, cause }: { late?: boolean; cause?: unknown } = {}) {
    super(reason, { cause })
    this.late = late
  }
}

export function createWebhooks(deps: WebhooksDeps): Webhooks {
  const { db, run, integrations } = deps

  async function call(row: InstallationRow, request: WebhookRequest): Promise<OutgoingAnswer> {
    const target = await targetOfInstallation(deps, row)
    if (target === undefined) throw new NoResponseError('The integration has no address.')
    const { webhookId: _, requestId: __, ...req } = request
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
      throw new NoResponseError(error.message, { late: error.failure === 'timeout', cause: error })
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

  return {
    async receive(request) {
      const row = await findInstallationByWebhook(db, request.webhookId)
      if (row === undefined || row.enabled !== 1 || row.integration_id === builtInChat.id) {
        throw new ApiError(
          'ResourceNotFound',
          `There is no webhook ${request.webhookId}, or its integration is switched off.`,
        )
      }
      let response: OutgoingAnswer
      try {
        response = await call(row, request)
        if (response.cut) {
          throw new NoResponseError(`Its response has more than ${maxResponseBytes} bytes.`)
        }
      } catch (error) {
        if (!(error instanceof NoResponseError)) throw error
        logFailure(row, `${error.message} (request ${request.requestId})`)
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
    },
  }
}

function relayed(headers: OutgoingAnswer['headers']): WebhookAnswer['headers'] {
  const kept: WebhookAnswer['headers'] = {}
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
