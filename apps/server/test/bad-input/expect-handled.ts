import { expect } from 'vitest'
import { expectRefusal } from '../request.js'

/**
 * Expects success, or a refusal in the standard body that is not a server failure.
 * @param sent description of the request for the message of a failing test
 */
export async function expectHandled(response: Response, sent = ''): Promise<void> {
  if (response.ok) return void (await response.json())
  const { status } = response
  if (status >= 500) expect.fail(`${sent}\n${status} ${await response.text()}`)
  await expectRefusal(response, { status, type: expect.any(String), message: /./ })
}
