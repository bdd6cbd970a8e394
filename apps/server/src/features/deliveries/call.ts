import { type Clock, isoTime } from '../../platform/clock.js'
import { OutgoingError } from '../../platform/outgoing/errors.js'
import type { Outgoing } from '../../platform/outgoing/outgoing.js'
import { signatureHeader, signatureOf } from './signature.js'
import type { Target } from './targets.js'
import { judge, type Verdict } from './verdict.js'

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

/** What came of a call. */
export interface CallResult {
  verdict: Verdict
  startedAt: string
  /** Milliseconds. */
  durationMs: number
  /** HTTP status; null without an answer. */
  status: number | null
  /** Beginning of the body of the answer, at most 4 KB; null without an answer. */
  answer: string | null
}

/** Bytes of an answer that are kept: enough to see what went wrong. */
const keptAnswerBytes = 4096

/** Calls a receiver once, signed, and judges the answer. Rejects only with the reason of the signal. */
export async function callReceiver(
  { outgoing, clock }: { outgoing: Outgoing; clock: Clock },
  target: Target,
  call: Call,
): Promise<CallResult> {
  const started = clock.now()
  const since = performance.now()
  const result = (verdict: Verdict, status: number | null, answer: string | null): CallResult => ({
    verdict,
    startedAt: isoTime(started),
    durationMs: Math.round(performance.now() - since),
    status,
    answer,
  })
  try {
    const answer = await outgoing.send(target.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'botstead',
        'x-bp-operation': call.operation,
        'x-bp-type': call.type,
        ...target.headers,
        ...call.headers,
        [signatureHeader]: signatureOf(target.secrets, call.body, started),
      },
      body: call.body,
      timeoutMs: target.timeoutMs,
      maximumAnswerBytes: keptAnswerBytes,
      ...(call.signal && { signal: call.signal }),
    })
    return result(judge(answer), answer.status, storable(answer.body))
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error
    return result({ result: 'retry', error: error.message, waitMs: 0 }, null, null)
  }
}

/** An answer as text that every engine can store; PostgreSQL refuses the zero character. */
function storable(body: Buffer): string {
  return body.toString('utf8').replaceAll('\0', '\uFFFD')
}
