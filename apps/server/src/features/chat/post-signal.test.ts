import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { createAddressRules } from '../../platform/outgoing/address-rules.js'
import { createOutgoing } from '../../platform/outgoing/outgoing.js'
import { postSignal } from './post-signal.js'

/** An app on this machine that sends everybody elsewhere; answers its address and what it got. */
async function startApp() {
  const got: (string | undefined)[] = []
  const server = createServer((request, response) => {
    got.push(request.url)
    response.writeHead(307, { location: '/elsewhere' }).end('x'.repeat(100_000))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return { got, url: `http://localhost:${port}/hook` }
}

function post(url: string, allowLoopback: boolean): Promise<void> {
  const outgoing = createOutgoing({ rules: createAddressRules({ allowed: [], allowLoopback }) })
  onTestFinished(() => outgoing[Symbol.asyncDispose]())
  return postSignal(outgoing, { url, secret: '' }, '{}', new AbortController().signal)
}

it('calls no private address unless that is allowed', async () => {
  const { got, url } = await startApp()
  await expect(post(url, false)).rejects.toMatchObject({ failure: 'refused' })
  expect(got).toEqual([])
})

it('follows no redirect', async () => {
  const { got, url } = await startApp()
  await expect(post(url, true)).rejects.toThrow('status 307')
  expect(got).toEqual(['/hook/'])
})
