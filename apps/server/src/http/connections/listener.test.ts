import { once } from 'node:events'
import { connect } from 'node:net'
import Fastify from 'fastify'
import { expect, it, vi } from 'vitest'
import { createListener } from './listener.js'

function createApp() {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const app = Fastify({ forceCloseConnections: 'idle' })
  app.get('/now', async () => 'now')
  app.get('/later', async () => {
    await released
    return 'later'
  })
  return { app, release }
}

const portOf = (app: ReturnType<typeof createApp>['app']) =>
  (app.server.address() as { port: number }).port

// A second IPv4 address stands in for ::1, which not every machine has.
const twoAddresses = async () => [{ address: '127.0.0.1' }, { address: '127.0.0.2' }]

it.runIf(process.platform === 'linux')(
  'listens on every address of localhost, and lets the requests of each finish',
  async () => {
    const { app, release } = createApp()
    const listener = createListener(app, twoAddresses)
    await listener.listen({ host: 'localhost', port: 0 })
    const port = portOf(app)
    for (const host of ['127.0.0.1', '127.0.0.2']) {
      expect(await (await fetch(`http://${host}:${port}/now`)).text()).toBe('now')
    }
    const arrived = once(app.server, 'request')
    const open = fetch(`http://127.0.0.2:${port}/later`)
    await arrived
    const closed = listener.close(60_000)
    await vi.waitFor(async () => expect(await isRefused('127.0.0.2', port)).toBe(true))
    release()
    expect(await (await open).text()).toBe('later')
    await closed
  },
)

it.each([
  ['an address that the machine does not have', 'localhost', [{ address: '203.0.113.1' }]],
  ['a host that is an address', '127.0.0.1', [{ address: '127.0.0.2' }]],
])('listens on a single address with %s', async (_, host, addresses) => {
  const { app } = createApp()
  const listener = createListener(app, async () => addresses)
  await listener.listen({ host, port: 0 })
  const port = portOf(app)
  expect(await (await fetch(`http://127.0.0.1:${port}/now`)).text()).toBe('now')
  expect(await isRefused('127.0.0.2', port)).toBe(true)
  await listener.close(60_000)
})

async function isRefused(host: string, port: number): Promise<boolean> {
  const socket = connect(port, host)
  // Rejects with the error of `connect`.
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return !isOpen
}
