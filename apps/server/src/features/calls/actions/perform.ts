import { ApiError } from '@botstead/contract'
import { askReceiver, type CallDeps } from '../requests/index.js'
import type { Target } from '../targets/index.js'

/**
 * Calls the code behind an action and answers its output.
 * @param name as the code knows the action, without the alias of an integration
 * @throws ApiError `Runtime` with what the code says went wrong
 */
export async function perform(
  deps: CallDeps,
  target: Target,
  name: string,
  input: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const output = outputOf(
    await askReceiver(deps, target, 'action_triggered', { type: name, input }),
  )
  if (output !== undefined) return output
  throw new ApiError('Runtime', 'The answer is not {"output": {...}}, which actions answer with.')
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
