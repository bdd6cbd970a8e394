import { expect } from 'vitest'
import { expectRefusal } from '../request.js'

/**
 * Expects success, or a refusal in the standard body that is not a server failure.
 * @param sent description of the request for the message of a failing test
 */
export async function expectHandled(response: Response, sent = ''): Promise<void> {
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  // Lines of JSON and other downloads are read to their end.
  if (response.ok) return void (await (isJson ? response.json() : response.text()))
  const { status } = response
  if (status >= 500) expect.fail(`${sent}\n${status} ${await response.text()}`)
  await expectRefusal(response, { status, type: expect.any(String), message: /./ })
}
