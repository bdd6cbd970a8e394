import { ApiError, operation } from '@botstead/contract'
import { Type } from 'typebox'
import { expect, it, onTestFinished, vi } from 'vitest'
import { listenApp } from '../../../test/http-app.js'
import { untilClosed } from '../../../test/raw-http.js'
import { route } from '../mount.js'

const refuse = operation({
  id: 'refuse',
  method: 'PUT',
  path: '/refused',
  tag: 'Service',
  summary: 'Refuse the upload',
  auth: 'public',
  upload: 'An unread body.',
  response: { kind: 'json', schema: Type.Unknown() },
  status: 200,
  errors: ['ResourceGone'],
})

async function listen() {
  const listening = await listenApp({
    routes: [
      route(refuse, async () => {
        throw new ApiError('ResourceGone', 'The upload is refused.')
      }),
    ],
  })
  onTestFinished(async () => {
    listening.app.server.closeAllConnections()
    await listening.app.close()
  })
  return listening
}

const head = (length: number) =>
  `PUT /refused HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`

/** The time that the server has for a body that it discards does not pass. */
function holdTime(): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'clearInterval', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** Counts the responses on a connection until it closes, at most two. */
async function answersTo(bytes: number): Promise<number> {
  const { client } = await (await listen()).connect()
  let received = ''
  const two = new Promise<void>((resolve) => {
    client.on('data', (chunk) => {
      received += chunk
      if (received.split('HTTP/1.1 410').length > 2) resolve()
    })
  })
  const first = new Promise((resolve) => client.once('data', resolve))
  client.write(head(bytes))
  await first
  client.write(Buffer.alloc(bytes))
  client.write(head(0))
  await Promise.race([two, untilClosed(client)])
  client.destroy()
  return received.split('HTTP/1.1 410').length - 1
}

it('cuts off a sender that sends much after a refusal, however fast', async () => {
  // A check at intervals would miss what arrives in between.
  holdTime()
  expect(await answersTo(8_000_000)).toBe(1)
})

it('keeps the connection of a sender that was nearly done', async () => {
  holdTime()
  expect(await answersTo(1_000_000)).toBe(2)
})
