import { isoTime } from '../../../platform/clock.js'
import { OutgoingError } from '../../../platform/outgoing/errors.js'
import type { Target } from '../targets/target.js'
import { type Call, type CallDeps, sendCall } from './request.js'
import { judge, textOf, type Verdict } from './verdict.js'

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
    const answer = await sendCall(deps, target, call, keptAnswerBytes)
    return result(judge(answer), answer.status, textOf(answer.body))
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error
    return result({ result: 'retry', error: error.message, waitMs: 0 }, null, null)
  }
}
