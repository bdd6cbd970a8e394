import { expect } from 'vitest'
import { expectRefusal } from '../request.js'

/**
 * Whatever was sent is answered: with success, or in the standard body and not as a failure.
 * @param sent what a failing test is told about it
 */
export async function expectAnswer(response: Response, sent = ''): Promise<void> {
  if (response.ok) return void (await response.json())
  const { status } = response
  if (status >= 500) expect.fail(`${sent}\n${status} ${await response.text()}`)
  await expectRefusal(response, { status, type: expect.any(String), message: /./ })
}
