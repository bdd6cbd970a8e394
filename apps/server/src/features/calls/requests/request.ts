import type { Clock } from '../../../platform/clock.js'
import type { Outgoing, OutgoingAnswer } from '../../../platform/outgoing/outgoing.js'
import type { Target } from '../targets/target.js'
import { signatureHeader, signatureOf } from './signature.js'

/** One call to a bot or an integration. */
export interface Call {
  /** Name of the operation in `x-bp-operation`. */
  operation: string
  /** What kind of it, in `x-bp-type`. */
  type: string
  /** JSON text. */
  body: string
  /** Headers beside those of every call. */
  headers?: Readonly<Record<string, string>>
  signal?: AbortSignal
}

export interface CallDeps {
  outgoing: Outgoing
  clock: Clock
}

/**
 * Sends one call to a receiver, signed, and answers what it answered, whatever its status.
 *
 * @param maximumAnswerBytes bytes of the answer that are read
 * @throws OutgoingError when there is no answer; an abort by the signal throws its reason
 */
export async function sendCall(
  { outgoing, clock }: CallDeps,
  target: Target,
  call: Call,
  maximumAnswerBytes: number,
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
    maximumAnswerBytes,
    ...(call.signal && { signal: call.signal }),
  })
}
