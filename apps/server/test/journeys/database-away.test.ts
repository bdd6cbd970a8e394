import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { createLog } from '../../src/platform/telemetry/log.js'
import { engines } from '../engines.js'
import { startTestServer } from '../harness.js'
import { freePort } from '../ports.js'

const postgres = engines.find(({ name }) => name === 'postgres')

/** A proxy in front of the database that can be stopped and restarted at its address. */
async function startGate(target: URL) {
  const sockets = new Set<Socket>()
  const gate = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(socket)
          client.destroy()
          upstream.destroy()
        })
    }
    client.pipe(upstream).pipe(client)
  })
  const port = await freePort()
  const open = async () => {
    gate.listen(port, '127.0.0.1')
    await once(gate, 'listening')
  }
  await open()
  const url = new URL(target)
  url.port = String(port)
  const close = () => {
    gate.close()
    for (const socket of sockets) socket.destroy()
  }
  return { url: url.href, open, close }
}

describe.skipIf(!postgres)('an outage of the database', () => {
  it('is logged once, makes calls fail so that they can be repeated, and ends by itself', async () => {
    if (postgres === undefined) return
    const place = await postgres.createPlace(true)
    const gate = await startGate(new URL(place.options.url ?? ''))
    const lines: { level: string; msg: string; reason?: string }[] = []
    const log = await createLog({
      level: 'info',
      destination: { write: (line) => void lines.push(JSON.parse(line)) },
    })
    const server = await startTestServer(postgres, { DATABASE_URL: gate.url }, log)
    const countOf = (msg: string) => lines.filter((line) => line.msg === msg).length
    try {
      const { bot } = await server.client().createBot({ name: 'Guide' })
      const webhookId = Object.values(bot.integrations)[0]?.webhookId ?? ''
      const { key: userKey } = await server.client({ webhookId }).chatCreateUser({})
      const chat = server.client({ webhookId, userKey })
      const { conversation } = await chat.chatCreateConversation({})
      const say = (text: string) =>
        server.fetch(`/chat/${webhookId}/messages`, {
          method: 'POST',
          headers: { 'x-user-key': userKey, 'content-type': 'application/json' },
          body: JSON.stringify({
            conversationId: conversation.id,
            payload: { type: 'text', text },
          }),
        })
      const ready = async () => (await server.fetch('/readyz')).status

      gate.close()
      const refused = await say('while it is away')
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
      expect(await refused.json()).toMatchObject({
        type: 'Internal',
        message: expect.stringContaining('try again in a moment'),
      })
      // The result of a probe is reused for half a second.
      await vi.waitFor(async () => expect(await ready()).toBe(503))
      expect((await server.fetch('/healthz')).status).toBe(200)
      const outage = 'jobs cannot be claimed, trying again later'
      await vi.waitFor(() => expect(countOf(outage)).toBe(1), { timeout: 10_000 })

      await gate.open()
      await vi.waitFor(async () => expect((await say('after that')).status).toBe(201))
      await vi.waitFor(() => expect(countOf('jobs are claimed again')).toBe(1), {
        timeout: 10_000,
      })
      await vi.waitFor(async () => expect(await ready()).toBe(200))
      expect(countOf(outage)).toBe(1)
      await vi.waitFor(() => expect(countOf('the connection for notifications is back')).toBe(1))
      expect(lines.find(({ msg }) => msg === 'request failed')).toMatchObject({
        level: 'error',
        reason: expect.stringMatching(
          /^The PostgreSQL database of DATABASE_URL cannot be reached: /,
        ),
      })
      const { messages } = await chat.chatListMessages({ conversationId: conversation.id })
      expect(messages.filter(({ payload }) => payload.text === 'after that')).toHaveLength(1)
    } finally {
      await server.close()
      gate.close()
      await place.remove()
    }
  })
})
