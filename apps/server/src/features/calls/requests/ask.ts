import { ApiError } from '@botstead/contract'
import { OutgoingError } from '../../../platform/outgoing/errors.js'
import type { Target } from '../targets/target.js'
import { type CallDeps, sendCall } from './request.js'
import { reasonOf } from './verdict.js'

/** Bytes of an answer that are read; an answer is no place for whole files. */
const maximumAnswerBytes = 4 * 1024 * 1024

/**
 * Calls a bot or an integration while the caller waits, once, and answers the body of its answer.
 * @param operation name of it, for `x-bp-operation`
 * @throws ApiError `Runtime` with what the code says went wrong, or why there is no answer
 */
export async function askReceiver(
  deps: CallDeps,
  target: Target,
  operation: string,
  body: object,
): Promise<Buffer> {
  const call = { operation, type: operation, body: JSON.stringify(body) }
  const answer = await send(deps, target, call)
  if (answer.status < 200 || answer.status >= 300) {
    throw new ApiError('Runtime', reasonOf(answer.body), { metadata: { status: answer.status } })
  }
  if (!answer.cut) return answer.body
  throw new ApiError('Runtime', `The answer has more than ${maximumAnswerBytes} bytes.`)
}

async function send(deps: CallDeps, target: Target, call: Parameters<typeof sendCall>[2]) {
  try {
    return await sendCall(deps, target, call, maximumAnswerBytes)
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error
    // Without its name a bot would take what is said of another program for something of its own.
    const alias = target.headers['x-integration-alias']
    const receiver = alias === undefined ? 'bot' : `integration ${alias}`
    throw new ApiError('Runtime', `The ${receiver} cannot be reached: ${error.message}`, {
      cause: error,
    })
  }
}
