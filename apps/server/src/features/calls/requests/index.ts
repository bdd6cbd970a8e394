import { createHmac } from 'node:crypto'
import { ApiError } from '@botstead/contract'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { storableText } from '../../../platform/db/columns.js'
import { exceededBound, maxJsonDepth } from '../../../platform/json-bounds.js'
import {
  type Outgoing,
  OutgoingError,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../../../platform/outgoing/outgoing.js'
import { CodeEndedError, type Hosting, type Suspect } from '../../hosting/index.js'
import type { CallAddress, Target } from '../targets/index.js'

/** One request to a bot or an integration. */
export interface Call {
  /** Name of the operation in `x-bp-operation`. */
  operation: string
  /** Type within the operation, in `x-bp-type`. */
  type: string
  /** JSON text. */
  body: string
  /** Headers in addition to those of every call. */
  headers?: Readonly<Record<string, string>>
  /** Set for code that runs here if this call may have ended that code before. */
  suspect?: Suspect | undefined
  signal?: AbortSignal
}

export interface CallDeps {
  outgoing: Outgoing
  hosting: Pick<Hosting, 'send'>
  clock: Clock
}

/** Header with which a receiver verifies that requests come from this server. */
const signatureHeader = 'x-botstead-signature'

/** Names of headers whose values must not be shown: they contain configuration or secrets. */
const secretHeaders = new Set(['x-bp-configuration', 'x-secret-key'])
const masked = '***'

/** The headers of a request. */
function headersOf(
  target: Target,
  call: Pick<Call, 'operation' | 'type' | 'headers'>,
  signature: string | undefined,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'botstead',
    ...(!target.plain && { 'x-bp-operation': call.operation, 'x-bp-type': call.type }),
    ...target.headers,
    ...call.headers,
    ...(signature !== undefined && { [signatureHeader]: signature }),
  }
}

/** The headers of a request for people to read, without secrets. */
export function shownHeadersOf(
  target: Target,
  call: Pick<Call, 'operation' | 'type' | 'headers'>,
  signature: string | undefined,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headersOf(target, call, signature)).map(([name, value]) => [
      name,
      secretHeaders.has(name) ? masked : value,
    ]),
  )
}

/** An address for people to read: a URL without the password in it, or whose code it is. */
function shownUrlOf(at: CallAddress): string {
  if ('code' in at) return `code:${at.code.type}/${at.code.id}`
  const { url } = at
  if (!url.includes('@') || !URL.canParse(url)) return storableInJson(url)
  const shown = new URL(url)
  if (shown.password !== '') shown.password = masked
  return shown.href
}

/**
 * Sends one signed request to a receiver and returns the response, whatever its status.
 *
 * @param maxResponseBytes bytes of the response that are read
 * @throws OutgoingError when there is no response; an abort by the signal throws its reason
 */
export async function sendCall(
  { outgoing, hosting, clock }: CallDeps,
  target: Target,
  call: Call,
  maxResponseBytes: number,
  signature = signatureOf(target.secrets, call.body, clock.now()),
): Promise<OutgoingResponse> {
  const request: OutgoingRequest = {
    method: 'POST',
    headers: headersOf(target, call, signature),
    body: call.body,
    timeoutMs: target.timeoutMs,
    maxResponseBytes,
    ...(call.signal && { signal: call.signal }),
  }
  const { at } = target
  const { suspect } = call
  const sent =
    'url' in at ? outgoing.send(at.url, request) : hosting.send(at.code, request, { suspect })
  if (!target.isForeign) return await sent
  return await sent.catch((error: unknown) => {
    throw error instanceof OutgoingError ? withoutAddress(error) : error
  })
}

/** The error that a bot gets of an integration of another workspace: it does not contain the address. */
function withoutAddress(cause: OutgoingError): OutgoingError {
  const why = cause.failure === 'timeout' ? 'did not respond in time' : 'cannot be reached'
  return new OutgoingError(cause.failure, `The server of the integration ${why}.`, { cause })
}

/** The end of the code that left a call without a response; undefined if it has another reason. */
function endOfCode(error: OutgoingError): CallResult['endOfCode'] {
  const cause = error instanceof CodeEndedError ? error : error.cause
  if (!(cause instanceof CodeEndedError)) return undefined
  return cause.isCertain ? 'certain' : 'possible'
}

/** The reason for which a call got no response, in words for the developer of the receiver. */
export function detailOf(error: OutgoingError): string {
  return error.cause instanceof OutgoingError ? error.cause.message : error.message
}

/**
 * `t=<Unix seconds>,v1=<hex>`, where the hex is HMAC-SHA256 of `<t>.<body>`: one `v1` per secret that
 * is valid now, so that a receiver may know either of them while secrets are rotated.
 */
export function signatureOf(
  secrets: readonly string[],
  body: string,
  nowMilliseconds: number,
): string {
  const time = Math.floor(nowMilliseconds / 1000)
  const macs = secrets.map((secret) => macOf(secret, `${time}.${body}`))
  return [`t=${time}`, ...macs.map((mac) => `v1=${mac}`)].join(',')
}

/** The text before the body in what a signature signs: the time and a dot. */
export function signedPrefixOf(signature: string): string {
  const [, time = ''] = /^t=(\d{1,12})/.exec(signature) ?? []
  return `${time}.`
}

/** Whether the signature of a body was made with one of the secrets, so that this body was sent with it. */
export function isSignatureOf(
  signature: string,
  secrets: readonly string[],
  body: string,
): boolean {
  const macs = new Set(signature.split(','))
  const text = `${signedPrefixOf(signature)}${body}`
  return secrets.some((secret) => macs.has(`v1=${macOf(secret, text)}`))
}

function macOf(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex')
}

/** The outcome of a call. */
export interface CallResult {
  verdict: Verdict
  /** Whether code that runs here ended during the call, and whether the call is certainly why. */
  endOfCode?: 'certain' | 'possible' | undefined
  /** ISO 8601 time. */
  startedAt: string
  /** ISO 8601 time. */
  endedAt: string
  /** Milliseconds. */
  durationMs: number
  /** HTTP status; null without a response. */
  status: number | null
  /** Beginning of the body of the response, at most 4 KB; null without a response. */
  responseText: string | null
  /** URL that was called, without a password; null if the workspace of the bot must not learn it. */
  url: string | null
  /** Value of the header with the signature; null likewise. */
  signature: string | null
  /** Headers of the response that help to find out why a call failed; null if it has none of them. */
  responseHeaders: Record<string, string> | null
}

/** The outcome of a delivery that a response implies. */
export type Verdict =
  | { result: 'delivered' }
  /** Worth another attempt, after at least `waitMs` milliseconds. */
  | { result: 'retry'; error: string; waitMs: number }
  /** The receiver rejected it: another attempt would end the same. */
  | { result: 'refused'; error: string }

/** Maximum bytes of a response that are kept: enough to see why a call failed. */
const keptResponseBytes = 4096

/** Calls a receiver once and judges the response. Rejects only with the reason of the signal. */
export async function callReceiver(
  deps: CallDeps,
  target: Target,
  call: Call,
): Promise<CallResult> {
  const now = deps.clock.now()
  const startedAt = isoTime(now)
  const since = performance.now()
  const signature = signatureOf(target.secrets, call.body, now)
  const response = await sendCall(deps, target, call, keptResponseBytes, signature).catch(
    (error: unknown) => {
      if (error instanceof OutgoingError) return error
      throw error
    },
  )
  const durationMs = Math.round(performance.now() - since)
  const made = target.isForeign
    ? { url: null, signature: null }
    : { url: shownUrlOf(target.at), signature }
  const endedAt = isoTime(Math.max(now, deps.clock.now()))
  const sent = { startedAt, endedAt, durationMs, ...made }
  if (response instanceof OutgoingError) {
    const verdict = { result: 'retry', error: response.message, waitMs: 0 } as const
    return {
      ...sent,
      verdict,
      endOfCode: endOfCode(response),
      status: null,
      responseText: null,
      responseHeaders: null,
    }
  }
  const { status, headers, body } = response
  return {
    ...sent,
    verdict: judge(response),
    status,
    responseText: textOf(body),
    responseHeaders: target.isForeign ? null : keptHeadersOf(headers),
  }
}

/** Headers of a response that are kept: what responded, and what it says about the failure. */
const keptHeaders = [
  'allow',
  'content-encoding',
  'content-type',
  'location',
  'retry-after',
  'server',
  'via',
  'www-authenticate',
  'x-request-id',
] as const
/** Maximum characters of a header that are kept. */
const maxHeader = 200

function keptHeadersOf(headers: OutgoingResponse['headers']): Record<string, string> | null {
  let kept: Record<string, string> | null = null
  for (const name of keptHeaders) {
    const value = headers[name]
    if (value === undefined) continue
    kept ??= {}
    kept[name] = storableInJson(String(value).slice(0, maxHeader))
  }
  return kept
}

/**
 * Judges a response by its status. Bots respond with 4xx to faults of their code or of the request, and
 * with 5xx to transient faults. Redirects are not followed, and are tried again: they usually mean that
 * something in front of the bot is being set up.
 */
export function judge(response: Pick<OutgoingResponse, 'status' | 'headers' | 'body'>): Verdict {
  const { status } = response
  if (status >= 200 && status < 300) return { result: 'delivered' }
  const error = `Status ${status}: ${reasonOf(response.body)}`
  if (isFinal(status)) return { result: 'refused', error }
  return { result: 'retry', error, waitMs: waitOf(response.headers['retry-after']) }
}

/** Statuses below 500 that are transient. */
const transient = new Set([408, 425, 429])

/** Whether another attempt after this status would have the same result. */
export function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && !transient.has(status)
}

/** Milliseconds of a Retry-After header in seconds; the date form is too coarse to be useful. */
function waitOf(header: string | string[] | undefined): number {
  const seconds = typeof header === 'string' && /^\d{1,6}$/.test(header) ? Number(header) : 0
  return seconds * 1000
}

/** The error of a receiver: the message of a standard error body, or the bare text. */
export function reasonOf(body: Buffer): string {
  const reason = messageIn(body) ?? textOf(body).trim()
  return reason === '' ? 'no reason given' : storableInJson(reason.slice(0, 500))
}

function messageIn(body: Buffer): string | undefined {
  const parsed = jsonOf(body)
  if (typeof parsed !== 'object' || parsed === null) return undefined
  const text = 'message' in parsed ? parsed.message : 'error' in parsed ? parsed.error : undefined
  return typeof text === 'string' ? text : undefined
}

/** Bytes of a receiver as text that every engine can store. */
function textOf(body: Buffer): string {
  return storableInJson(body.toString('utf8'))
}

/** A text that can be stored also in JSON, where PostgreSQL refuses lone surrogates too. */
function storableInJson(text: string): string {
  return storableText(text).toWellFormed()
}

/** Maximum bytes of a response that `requireResponse` reads; files belong elsewhere. */
const maxResponseBytes = 4 * 1024 * 1024

/**
 * Calls a bot or an integration once for a caller that waits, and returns the body of the response.
 * @param operation name of the operation, for `x-bp-operation`
 * @throws ApiError `Runtime` with the error of the receiver, or why there is no response
 */
export async function requireResponse(
  deps: CallDeps,
  target: Target,
  operation: string,
  body: object,
): Promise<Buffer> {
  const call = { operation, type: operation, body: JSON.stringify(body) }
  const response = await sendCall(deps, target, call, maxResponseBytes).catch((error: unknown) => {
    throw error instanceof OutgoingError ? unreachable(target, error) : error
  })
  if (response.status < 200 || response.status >= 300) {
    throw new ApiError('Runtime', reasonOf(response.body), {
      metadata: { status: response.status },
    })
  }
  if (!response.cut) return response.body
  throw new ApiError('Runtime', `The response has more than ${maxResponseBytes} bytes.`)
}

/** Bounds of a response in JSON: its values are in memory, for every call that waits. */
const responseBounds = { depth: maxJsonDepth, values: 100_000 }

/** The JSON of a response; undefined if it is none, or one that no receiver needs: nested deeply, or of too many values. */
export function jsonOf(body: Buffer): unknown {
  // A byte order mark counts as a blank here.
  const text = body.toString('utf8').trim()
  if (exceededBound(text, responseBounds) !== undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function unreachable(target: Target, error: OutgoingError): ApiError {
  // Names the receiver, because a bot passes on errors of the integrations that it calls.
  const alias = target.headers['x-integration-alias']
  const receiver = alias === undefined ? 'bot' : `integration ${alias}`
  return new ApiError('Runtime', `The ${receiver} cannot be reached: ${error.message}`, {
    cause: error,
  })
}
