import { once } from 'node:events'
import { createServer, type RequestListener, request, type Server } from 'node:http'
import { Client as ChatClient } from '@botpress/chat'
import { RateLimitedError } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engines } from '../engines.js'
import { existingClient, makeBot } from '../existing-clients.js'
import { startTestServer, type TestServer, useServer } from '../harness.js'
import { freePort } from '../ports.js'

describe('a base address', () => {
  const server = useServer()

  it('may end in a slash', async () => {
    const { webhookId } = await makeBot(server())
    const apiUrl = `${server().url}/`
    expect((await existingClient(server(), { apiUrl }).listBots({})).bots).not.toEqual([])
    const chat = await ChatClient.connect({ apiUrl: `${apiUrl}chat/${webhookId}/` })
    expect((await chat.getUser({})).user.id).toBe(chat.user.id)
  })
})

describe('a server behind a proxy that adds a path', () => {
  const prefix = '/home/bots'
  let server: TestServer
  let publicUrl: string
  let proxy: Server

  beforeAll(async () => {
    const port = await freePort()
    proxy = createServer(forward(prefix, `http://127.0.0.1:${port}`))
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const address = proxy.address()
    if (address === null || typeof address === 'string') throw new Error('The proxy has no port')
    publicUrl = `http://127.0.0.1:${address.port}${prefix}`
    const [engine] = engines
    if (engine === undefined) throw new Error('There is no engine')
    server = await startTestServer(engine, { PORT: String(port), BOTSTEAD_PUBLIC_URL: publicUrl })
  })
  afterAll(async () => {
    proxy.closeAllConnections()
    proxy.close()
    await server.close()
  })

  it('is reached by all clients, uploads and downloads included', async () => {
    const admin = existingClient(server, { apiUrl: publicUrl })
    const { bot } = await admin.createBot({})
    const client = existingClient(server, { apiUrl: publicUrl, botId: bot.id })
    const { file } = await client.uploadFile({ key: 'a/b.txt', content: 'Hello' })
    expect(file.uploadUrl.startsWith(`${publicUrl}/uploads/`)).toBe(true)
    const { file: stored } = await client.getFile({ id: file.id })
    expect(stored.url.startsWith(`${publicUrl}/content/`)).toBe(true)
    expect(await (await fetch(stored.url)).text()).toBe('Hello')
    const apiUrl = Object.values(bot.integrations)[0]?.webhookUrl ?? ''
    expect(apiUrl.startsWith(`${publicUrl}/chat/`)).toBe(true)
    const chat = await ChatClient.connect({ apiUrl })
    expect(chat.user.id).toMatch(/^user_/)
  })
})

describe('a client that is too fast', () => {
  const server = useServer(undefined, { BOTSTEAD_RATE_LIMIT: '60', BOTSTEAD_RATE_BURST: '3' })

  it('is refused, and its retries wait for the requested time', async () => {
    const impatient = existingClient(server())
    const statuses: number[] = []
    const patient = existingClient(server(), {
      retry: {
        retries: 5,
        onRetry: (_count, error) => {
          statuses.push(error.response?.status ?? 0)
          // The client waits for the time in the header.
          const { headers = {} } = error.response ?? {}
          expect(headers['retry-after']).toMatch(/^[1-9]\d*$/)
          // Bots made with the SDK use this header.
          expect(headers['ratelimit-reset']).toBe(headers['retry-after'])
          server().clock.advance(Number(headers['retry-after']) * 1000)
        },
      },
    })
    // On a busy machine the limit would expire between two calls.
    await server().clock.hold(async () => {
      const calls = await Promise.allSettled([1, 2, 3, 4, 5].map(() => impatient.listBots({})))
      const refused = calls.filter((call) => call.status === 'rejected')
      expect(refused).toHaveLength(2)
      for (const { reason } of refused) expect(reason).toBeInstanceOf(RateLimitedError)
      expect(await patient.listBots({})).toMatchObject({ bots: [] })
    })
    expect(new Set(statuses)).toEqual(new Set([429]))
  })
})

/** Forwards requests below the prefix, without it. */
function forward(prefix: string, target: string): RequestListener {
  return (incoming, outgoing) => {
    const path = incoming.url ?? ''
    if (!path.startsWith(`${prefix}/`)) return void outgoing.writeHead(502).end()
    const { method, headers } = incoming
    const onward = request(
      `${target}${path.slice(prefix.length)}`,
      { method, headers },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers)
        response.pipe(outgoing)
      },
    )
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  }
}
