import { ApiError } from '@botstead/contract'
import { OutgoingError } from '../../platform/outgoing/errors.js'
import type { OutgoingAnswer } from '../../platform/outgoing/outgoing.js'
import { type CallDeps, reasonOf, sendCall, type Target } from '../deliveries/index.js'

export type PerformDeps = CallDeps

/** Bytes of an answer that are read; an output is no place for whole files. */
const maximumAnswerBytes = 4 * 1024 * 1024

/**
 * Calls the code behind an action and answers its output.
 * @param name as the code knows the action, without the alias of an integration
 * @throws ApiError `Runtime` with what the code says went wrong
 */
export async function perform(
  deps: PerformDeps,
  target: Target,
  name: string,
  input: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const answer = await send(deps, target, JSON.stringify({ type: name, input }))
  if (answer.status < 200 || answer.status >= 300) {
    throw new ApiError('Runtime', reasonOf(answer.body), { metadata: { status: answer.status } })
  }
  if (answer.cut) {
    throw new ApiError('Runtime', `The output has more than ${maximumAnswerBytes} bytes.`)
  }
  const output = outputOf(answer.body)
  if (output !== undefined) return output
  throw new ApiError('Runtime', 'The answer is not {"output": {...}}, which actions answer with.')
}

async function send(deps: PerformDeps, target: Target, body: string): Promise<OutgoingAnswer> {
  const operation = 'action_triggered'
  try {
    return await sendCall(deps, target, { operation, type: operation, body }, maximumAnswerBytes)
  } catch (error) {
    if (error instanceof OutgoingError)
      throw new ApiError('Runtime', error.message, { cause: error })
    throw error
  }
}

function outputOf(body: Buffer): Record<string, unknown> | undefined {
  try {
    const { output } = Object(JSON.parse(body.toString('utf8')))
    return typeof output === 'object' && output !== null && !Array.isArray(output)
      ? output
      : undefined
  } catch {
    return undefined
  }
}
