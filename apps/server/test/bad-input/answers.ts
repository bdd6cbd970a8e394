import { expect } from 'vitest'
import { expectRefusal } from '../request.js'

/** Whatever was sent is answered: with success, or in the standard body and not as a failure. */
export async function expectAnswer(response: Response): Promise<void> {
  if (response.ok) return void (await response.json())
  const { status } = response
  expect(status, await response.clone().text()).toBeLessThan(500)
  await expectRefusal(response, { status, type: expect.any(String), message: /./ })
}
