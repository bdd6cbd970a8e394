import { once } from 'node:events'
import { operation } from '@botstead/contract'
import { Type } from 'typebox'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ListeningApp, listenApp } from '../../../test/http-app.js'
import { receivedBy, untilClosed } from '../../../test/raw-http.js'
import { Frame } from '../../platform/streams/frame.js'
import { route } from '../mount.js'

const shared = { method: 'GET', tag: 'Service', auth: 'public', status: 200, errors: [] } as const
const wait = operation({
  ...shared,
  id: 'wait',
  path: '/wait',
  summary: 'Respond when the test allows it',
  response: { kind: 'json', schema: Type.Unknown() },
})
const listen = operation({
  ...shared,
  id: 'listen',
  path: '/listen',
  summary: 'Listen to one event',
  response: { kind: 'stream', description: 'The event.' },
})
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

describe('a stream on a connection with other requests', () => {
  let listening: ListeningApp
  let release: () => void
  let waited: number
  let admitted: number
  let left: number

  beforeEach(async () => {
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    waited = 0
    admitted = 0
    left = 0
    listening = await listenApp({
      routes: [
        route(wait, async () => {
          waited += 1
          await released
          return { waited }
        }),
        route(listen, async () => {
          admitted += 1
          return (sink) => {
            sink.onClose(() => {
              left += 1
            })
            sink.send(new Frame({ type: 'sent', data: {} }, 1))
          }
        }),
      ],
    })
  })
  afterEach(async () => {
    release()
    listening.app.server.closeAllConnections()
    await listening.app.close()
  })

  async function write(bytes: string) {
    const { client } = await listening.connect()
    let received = ''
    client.on('data', (chunk) => {
      received += chunk
    })
    client.write(bytes)
    return { client, received: () => received }
  }

  it.each([
    ['of events', ''],
    [
      'by WebSocket',
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
    ],
  ])('%s sends its headers a moment before the first event', async (_, headers) => {
    const { client } = await listening.connect()
    const { client: other } = await listening.connect()
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    try {
      const received = receivedBy(client)
      client.write(`GET /listen HTTP/1.1\r\nHost: a\r\n${headers}\r\n`)
      while (!received().includes('\r\n\r\n')) await once(client, 'data')
      // A request on another connection completes, so everything up to the pause has happened.
      other.write(get('/nowhere'))
      await once(other, 'data')
      expect(received()).toMatch(/\r\n\r\n$/)
      vi.advanceTimersByTime(50)
      while (!received().includes('"type":"sent"')) await once(client, 'data')
    } finally {
      vi.useRealTimers()
      client.destroy()
      other.destroy()
    }
  })

  it('begins when earlier responses are sent', async () => {
    const { client, received } = await write(get('/wait') + get('/listen'))
    await vi.waitUntil(() => waited === 1)
    // A request on another connection completes, so the stream request has been processed.
    await fetch(`http://127.0.0.1:${listening.port}/nowhere`)
    expect(admitted).toBe(0)
    release()
    await vi.waitUntil(() => received().includes('"type":"sent"'))
    expect(received()).toMatch(
      /^HTTP\/1\.1 200 [\s\S]*{"waited":1}HTTP\/1\.1 200 [\s\S]*text\/event-stream[\s\S]*\r\n\r\nid: 1\nevent/,
    )
    client.destroy()
    await vi.waitUntil(() => left === 1)
  })

  it('releases its slot when the connection closes before its turn', async () => {
    const { client, server } = await listening.connect()
    client.write(get('/wait') + get('/listen'))
    await vi.waitUntil(() => waited === 1)
    client.destroy()
    await untilClosed(server)
    release()
    await vi.waitUntil(() => left === admitted && admitted === 1)
  })

  it('is the last request that its connection starts, and announces it', async () => {
    const { client, received } = await write(get('/listen') + get('/listen'))
    await vi.waitUntil(() => received().includes('"type":"sent"'))
    expect(received()).toMatch(/^connection: close\r$/im)
    client.write(get('/wait'))
    for (let i = 0; i < 5; i++) await fetch(`http://127.0.0.1:${listening.port}/nowhere`)
    expect({ admitted, waited }).toEqual({ admitted: 1, waited: 0 })
    client.destroy()
    // The stream behind it ends as well, and releases its slot.
    await vi.waitUntil(() => left === admitted)
  })

  it('ends with its connection when many requests come behind it', async () => {
    const { client, received } = await write(get('/listen'))
    await vi.waitUntil(() => received().includes('"type":"sent"'))
    client.write(get('/wait').repeat(100))
    await untilClosed(client)
    expect(waited).toBe(0)
    await vi.waitUntil(() => left === 1)
  })

  it('gets a comment in every four quiet seconds, if its client is the http module of Node', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const [unnamed, named] = await Promise.all([
        write(get('/listen')),
        write('GET /listen HTTP/1.1\r\nHost: a\r\nUser-Agent: Mozilla/5.0\r\n\r\n'),
      ])
      await vi.waitUntil(() => [unnamed, named].every((each) => each.received().includes('"sent"')))
      const comments = () => unnamed.received().match(/^:$/gm)?.length ?? 0
      for (const count of [1, 2]) {
        vi.advanceTimersByTime(4000)
        await vi.waitUntil(() => comments() === count)
      }
      expect(named.received()).toMatch(/"sent".*\n\n$/)
      unnamed.client.destroy()
      named.client.destroy()
      await vi.waitUntil(() => left === 2)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })
})
