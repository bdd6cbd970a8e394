import { ApiError } from '@botstead/contract'
import type { Addresses } from '../../../domain/addresses.js'
import { fieldError } from '../../../domain/refusals.js'
import type { RawRequest, RawResponse } from '../../../http/raw-routes.js'
import type { Clock } from '../../../platform/clock.js'
import type { Run } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import { OutgoingError, type OutgoingResponse } from '../../../platform/outgoing/outgoing.js'
import {
  findInstallation,
  findInstallationByWebhook,
  type InstallationRow,
  isBuiltIn,
  setAccount,
} from '../../bots/installations/index.js'
import { type CallDeps, detailOf, reasonOf, sendCall } from '../../calls/requests/index.js'
import { type IntegrationTargetDeps, targetOfInstallation } from '../../calls/targets/index.js'
import type { Feature } from '../../feature.js'
import {
  type Addressee,
  addresseeOf,
  type OutsideRequest,
  outsideRequestOf,
  addresses as paths,
} from './address.js'
import { type ChoosingDeps, createChooser } from './choosing.js'
import { endAddressOf, endPage } from './end-page.js'

export interface WebhooksDeps extends CallDeps, Omit<ChoosingDeps, 'integrations'> {
  run: Run
  clock: Clock
  domainEvents: EventDispatcher
  addresses: Pick<Addresses, 'base'>
  sealer: IntegrationTargetDeps['sealer']
  integrations: ChoosingDeps['integrations']
}

/** Maximum bytes of a body at a shared address: a script takes many times as much memory to read it. */
const maxScriptedBytes = 1024 * 1024
/** Maximum bytes of a body. Integrations are called with texts only, which are held in memory. */
const maxBodyBytes = 4 * 1024 * 1024
const maxResponseBytes = 4 * 1024 * 1024
/** Maximum characters of the name of an account. */
const maxAccountLength = 500
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

/** Thrown when an integration returned no response that could be relayed. */
class NoResponseError extends Error {
  override name = 'NoResponseError'
  /** Whether the integration took too long. */
  readonly late: boolean

  constructor(reason: string, { late = false, cause }: { late?: boolean; cause?: unknown } = {}) {
    super(reason, { cause })
    this.late = late
  }
}

/** The request that an installation receives. Its path is the part below the installation's own address. */
type InstallationRequest = OutsideRequest & { path: string }

/** The addressee of a request that names one installation. */
type OneInstallation = Extract<Addressee, { webhookId: string }>

/**
 * Requests from outside, at the public addresses of installations. Each is passed to the integration that is installed
 * there, and its response is returned.
 */
export function createWebhooks(deps: WebhooksDeps): Feature {
  const { db, run, integrations, addresses } = deps

  const choose = createChooser(deps)

  async function call(row: InstallationRow, req: InstallationRequest): Promise<OutgoingResponse> {
    const target = await targetOfInstallation(deps, row)
    if (target === undefined) throw new NoResponseError('The integration has no address.')
    const operation = 'webhook_received'
    const headers = Object.fromEntries(
      traceHeaders.flatMap((name) => {
        const value = req.headers[name]
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

  /** The installation that a request is for. It need not be enabled to be set up. */
  async function requireInstallation(addressee: OneInstallation): Promise<InstallationRow> {
    const { to, webhookId, path } = addressee
    if (to === 'setup' && webhookId === '') {
      throw fieldError(
        'query.state',
        'is missing: the address of a setup names the installation by its webhook id, as state=<webhook id>.',
      )
    }
    const row = await findInstallationByWebhook(db, webhookId)
    const isFound = row !== undefined && !isBuiltIn(row)
    const isSetUp = to === 'setup' || /^\/oauth(\/|$)/.test(path)
    if (isFound && (isSetUp || row.enabled === 1)) return row
    throw new ApiError('ResourceNotFound', messageFor(addressee, isSetUp))
  }

  /** Stores the account that a response names. */
  async function identify({ bot_id, alias, integration_id }: InstallationRow, account: string) {
    await run(async (tx) => {
      const row = await findInstallation(tx, bot_id, alias)
      if (row?.integration_id === integration_id) await setAccount(tx, deps, row, account)
    })
  }

  async function pass(
    row: InstallationRow,
    request: InstallationRequest,
    requestId: string,
  ): Promise<OutgoingResponse> {
    let response: OutgoingResponse
    try {
      response = await call(row, request)
      if (response.cut) {
        throw new NoResponseError(`Its response has more than ${maxResponseBytes} bytes.`)
      }
      if (response.status < 200 || response.status > 599) {
        throw new NoResponseError(`Its response has the status ${response.status}.`)
      }
    } catch (error) {
      if (!(error instanceof NoResponseError)) throw error
      logFailure(row, `${error.message} (request ${requestId})`)
      throw withoutReason(error)
    }
    if (response.status >= 400) {
      logFailure(row, `status ${response.status}: ${reasonOf(response.body)}`)
    }
    const account = response.headers['x-bp-integration-identifier']
    if (typeof account === 'string' && account !== '') {
      if (account.length <= maxAccountLength) await identify(row, account)
      else logFailure(row, `its account has more than ${maxAccountLength} characters`)
    }
    return response
  }

  async function receive(raw: RawRequest): Promise<RawResponse> {
    const { addressee, query } = addresseeOf(raw.url)
    if (addressee.to === 'end') return endPage(query)
    const request = outsideRequestOf(raw, query)
    const { requestId } = raw
    if (addressee.to === 'shared') {
      if ((raw.body?.length ?? 0) > maxScriptedBytes) {
        throw new ApiError(
          'PayloadTooLarge',
          `A body at a shared address has at most ${maxScriptedBytes} bytes.`,
        )
      }
      const choice = await choose(addressee, request, raw)
      if (choice.by === 'script') return toRaw(choice.response)
      return toRaw(await pass(choice.row, { ...request, path: choice.path }, requestId))
    }
    const row = await requireInstallation(addressee)
    const response = await pass(row, { ...request, path: addressee.path }, requestId)
    if (addressee.to === 'setup' && wantsEndPage(raw, response)) {
      const success = response.status < 400
      const end = success ? { success } : { success, errorMessage: reasonOf(response.body) }
      const location = endAddressOf(addresses.base(), end)
      return { status: 303, headers: { location }, body: Buffer.alloc(0) }
    }
    return toRaw(response)
  }

  return {
    name: 'webhooks',
    rawRoutes: [{ paths, bodyLimit: maxBodyBytes, handle: receive }],
  }
}

function messageFor({ to, webhookId }: OneInstallation, isSetUp: boolean): string {
  if (to === 'setup') {
    return `query.state: no installation has the webhook id ${webhookId}. It may have been removed, or its link copied in part.`
  }
  return isSetUp
    ? `There is no webhook ${webhookId}.`
    : `There is no webhook ${webhookId}, or its integration is switched off.`
}

/**
 * Whether a person who is sent back by another service is shown how that ended: the integration responded with nothing
 * that a browser can show, and did not ask to leave it so.
 */
function wantsEndPage({ method, headers }: RawRequest, response: OutgoingResponse): boolean {
  if (method !== 'GET' || !headers.accept?.includes('text/html')) return false
  const { location, 'content-type': type, 'x-bp-disable-interstitial': disabled } = response.headers
  if (disabled !== undefined || location !== undefined) return false
  return !String(type ?? typeOf(response.body)).startsWith('text/html')
}

/** Browsers do not guess the type of a response, and would store one without a type as a file. */
function typeOf(body: Buffer): string {
  const isPage = /^\s*</.test(body.subarray(0, 100).toString())
  return `text/${isPage ? 'html' : 'plain'}; charset=utf-8`
}

function toRaw({
  status,
  headers,
  body,
}: Pick<OutgoingResponse, 'status' | 'headers' | 'body'>): RawResponse {
  const kept = relayed(headers)
  if (body.length > 0) kept['content-type'] ||= typeOf(body)
  return { status, headers: kept, body }
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
