import { createHmac } from 'node:crypto'
import { ApiError } from '@botstead/contract'
import { type Clock, isoTime } from '../../../platform/clock.js'
import {
  type Outgoing,
  type OutgoingAnswer,
  OutgoingError,
} from '../../../platform/outgoing/outgoing.js'
import type { Target } from '../targets/index.js'
import { judge, reasonOf, textOf, type Verdict } from './verdict.js'

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
  signal?: AbortSignal
}

export interface CallDeps {
  outgoing: Outgoing
  clock: Clock
}

/** Header with which a receiver verifies that requests come from this server. */
const signatureHeader = 'x-botstead-signature'

/**
 * Sends one signed request to a receiver and returns the response, whatever its status.
 *
 * @param maxResponseBytes bytes of the response that are read
 * @throws OutgoingError when there is no response; an abort by the signal throws its reason
 */
export async function sendCall(
  { outgoing, clock }: CallDeps,
  target: Target,
  call: Call,
  maxResponseBytes: number,
): Promise<OutgoingAnswer> {
  return await outgoing.send(target.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'botstead',
      ...(!target.plain && { 'x-bp-operation': call.operation, 'x-bp-type': call.type }),
      ...target.headers,
      ...call.headers,
      [signatureHeader]: signatureOf(target.secrets, call.body, clock.now()),
    },
    body: call.body,
    timeoutMs: target.timeoutMs,
    maximumAnswerBytes: maxResponseBytes,
    ...(call.signal && { signal: call.signal }),
  })
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
  const macs = secrets.map((secret) =>
    createHmac('sha256', secret).update(`${time}.${body}`).digest('hex'),
  )
  return [`t=${time}`, ...macs.map((mac) => `v1=${mac}`)].join(',')
}

/** The outcome of a call. */
export interface CallResult {
  verdict: Verdict
  startedAt: string
  /** Milliseconds. */
  durationMs: number
  /** HTTP status; null without a response. */
  status: number | null
  /** Beginning of the body of the response, at most 4 KB; null without a response. */
  answer: string | null
}

/** Bytes of a response that are kept: enough to see why a call failed. */
const keptResponseBytes = 4096

/** Calls a receiver once and judges the response. Rejects only with the reason of the signal. */
export async function callReceiver(
  deps: CallDeps,
  target: Target,
  call: Call,
): Promise<CallResult> {
  const started = deps.clock.now()
  const since = performance.now()
  const result = (verdict: Verdict, status: number | null, answer: string | null): CallResult => ({
    verdict,
    startedAt: isoTime(started),
    durationMs: Math.round(performance.now() - since),
    status,
    answer,
  })
  try {
    const response = await sendCall(deps, target, call, keptResponseBytes)
    return result(judge(response), response.status, textOf(response.body))
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error
    return result({ result: 'retry', error: error.message, waitMs: 0 }, null, null)
  }
}

/** Most bytes of a response that a caller waits for; files belong elsewhere. */
const maxResponseBytes = 4 * 1024 * 1024

/**
 * Calls a bot or an integration once while somebody waits, and returns the body of the response.
 * @param operation name of the operation, for `x-bp-operation`
 * @throws ApiError `Runtime` with the error of the receiver, or why there is no response
 */
export async function askReceiver(
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

function unreachable(target: Target, error: OutgoingError): ApiError {
  // Names the receiver, because a bot passes on errors of the integrations that it calls.
  const alias = target.headers['x-integration-alias']
  const receiver = alias === undefined ? 'bot' : `integration ${alias}`
  return new ApiError('Runtime', `The ${receiver} cannot be reached: ${error.message}`, {
    cause: error,
  })
}
