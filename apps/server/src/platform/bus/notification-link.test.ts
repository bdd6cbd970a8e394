import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import pg from 'pg'
import { describe, expect, inject, it, vi } from 'vitest'
import { recordedLog, until } from './conformance.js'
import { NotificationLink } from './notification-link.js'

const server = inject('postgresUrl')

/** Stands between a client and the server and can go silent without closing, as a lost cable would. */
async function silenceable(target: URL) {
  const sockets: Socket[] = []
  const proxy = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      socket.on('error', () => socket.destroy())
      sockets.push(socket)
    }
    client.pipe(upstream).pipe(client)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = new URL(target)
  url.port = String((proxy.address() as AddressInfo).port)
  return {
    url: url.href,
    /** Holds back what the server sends, as a slow network does, until the returned function is called. */
    hold: () => {
      const pairs = sockets.flatMap((client, at) => {
        const upstream = sockets[at + 1]
        return at % 2 === 0 && upstream ? [{ client, upstream }] : []
      })
      for (const { client, upstream } of pairs) upstream.unpipe(client).pause()
      return () => {
        for (const { client, upstream } of pairs) upstream.pipe(client)
      }
    },
    silence: () => {
      for (const socket of sockets.splice(0)) socket.unpipe().pause()
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      proxy.close()
    },
  }
}

describe.skipIf(!server)('the notification link', () => {
  it('notices a connection that died in silence and makes a new one', async () => {
    const proxy = await silenceable(new URL(server))
    const { log, lines } = await recordedLog()
    const heard: string[] = []
    let reconnects = 0
    const link = await NotificationLink.open({
      url: proxy.url,
      channel: 'link "test"',
      log,
      onNotification: (payload) => heard.push(payload),
      onReconnect: () => {
        reconnects += 1
      },
      heartbeat: 50,
      queryTimeout: 1_500,
    })
    proxy.silence()
    await until(() => reconnects > 0)
    expect(lines.join()).toContain('was lost')
    // On a busy machine the new connection may be taken for lost too.
    await vi.waitFor(
      async () => {
        heard.length = 0
        await link.notify(['one', 'two'])
        await vi.waitFor(() => expect(heard).toEqual(['one', 'two']))
      },
      { timeout: 15_000 },
    )
    await link[Symbol.asyncDispose]()
    expect(link.connected).toBe(false)
    await expect(link.notify(['three'])).rejects.toThrow('is down')
    proxy.close()
  })

  it('continues after the server refused a notification', async () => {
    const { log, lines } = await recordedLog()
    const heard: string[] = []
    const onNotification = (payload: string) => void heard.push(payload)
    const options = { url: server, channel: 'refusals', log, onNotification, onReconnect() {} }
    const link = await NotificationLink.open(options)
    await link.notify(['x'.repeat(8_000)])
    await link.notify(['short'])
    await until(() => heard.length > 0)
    expect(heard).toEqual(['short'])
    expect(lines.join()).toContain('refused')
    await link[Symbol.asyncDispose]()
  })

  it('gives nothing up that it sends while the server ends the connection', async () => {
    const proxy = await silenceable(new URL(server))
    const { log } = await recordedLog()
    const link = await NotificationLink.open({
      url: proxy.url,
      channel: 'ended',
      log,
      onNotification() {},
      onReconnect() {},
    })
    const admin = new pg.Client({ connectionString: server })
    await admin.connect()
    const release = proxy.hold()
    await admin.query(
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity where query = 'listen "ended"'`,
    )
    // The reason arrives as if it were the answer to this.
    const sent = link.notify(['one'])
    release()
    await expect(sent).rejects.toThrow()
    await admin.end()
    await link[Symbol.asyncDispose]()
    proxy.close()
  })
})
