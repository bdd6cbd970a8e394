import { once } from 'node:events'
import type { Socket } from 'node:net'
import { operation } from '@botstead/contract'
import { Type } from 'typebox'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ListeningApp, listenApp } from '../../../test/http-app.js'
import { ManualTime } from '../../../test/manual-time.js'
import { receivedBy, untilClosed } from '../../../test/raw-http.js'
import { createRequestMeter, type RequestMeter } from '../metrics.js'
import { route } from '../mount.js'

const shared = { tag: 'Service', auth: 'public', status: 200, errors: [] } as const
const echo = operation({
  ...shared,
  id: 'echo',
  method: 'POST',
  path: '/echo',
  summary: 'Return the length of a text',
  body: Type.Object({ text: Type.String() }),
  response: { kind: 'json', schema: Type.Unknown() },
})
const secret = operation({
  ...echo,
  id: 'secret',
  path: '/secret',
  auth: 'account',
  permission: 'account:read',
})
const upload = operation({
  ...shared,
  id: 'upload',
  method: 'PUT',
  path: '/upload',
  summary: 'Return the length of a content',
  upload: 'Anything',
  response: { kind: 'json', schema: Type.Unknown() },
})
const large = operation({
  ...shared,
  id: 'large',
  method: 'GET',
  path: '/large',
  summary: 'Respond with more than a connection buffers',
  response: { kind: 'json', schema: Type.Unknown() },
})
const wait = operation({ ...large, id: 'wait', path: '/wait' })

const largeText = 'x'.repeat(20_000_000)
const second = 1000
/** Milliseconds between two checks of Node for heads that take too long. */
const checkMilliseconds = 100

describe('a connection', () => {
  let listening: ListeningApp
  let time: ManualTime
  let meter: RequestMeter
  let release: () => void
  /** Whether the request that waits for the test has begun. */
  let isWaiting: boolean

  beforeEach(async () => {
    time = new ManualTime()
    meter = createRequestMeter()
    isWaiting = false
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    listening = await listenApp({
      meter,
      connections: { timers: time, clock: time, headMilliseconds: checkMilliseconds },
      routes: [
        route(echo, async ({ body }) => ({ length: body.text.length })),
        route(secret, async () => ({})),
        route(upload, async ({ stream }) => {
          let length = 0
          for await (const chunk of stream) length += chunk.length
          return { length }
        }),
        route(large, async () => ({ text: largeText })),
        route(wait, async () => {
          isWaiting = true
          await released
          return { done: true }
        }),
      ],
    })
    // No head is late, however slow the machine is, but in a test that makes it so.
    limitHeads(600 * second)
  })
  afterEach(async () => {
    release()
    listening.app.server.closeAllConnections()
    await listening.app.close()
  })

  function limitHeads(milliseconds: number): void {
    listening.app.server.headersTimeout = milliseconds
  }

  const head = (line: string, length: number) =>
    `${line} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`

  /** Writes a text and waits until the server has received it. */
  async function send({ client, server }: { client: Socket; server: Socket }, text: string) {
    const before = server.bytesRead
    client.write(text)
    await vi.waitUntil(() => server.bytesRead >= before + text.length)
  }

  describe.each(['POST /echo', 'POST /nowhere'])('with a body for %s', (line) => {
    it('gets 408 and is closed when the body arrives too slowly', async () => {
      const connection = await listening.connect()
      const received = receivedBy(connection.client)
      const closed = untilClosed(connection.client)
      await send(connection, `${head(line, 50)}{"text":"`)
      for (let i = 0; i < 6; i++) {
        await send(connection, 'x')
        time.advance(10 * second)
        expect(received()).toBe('')
      }
      time.advance(10 * second)
      await closed
      const [responseHead, body = ''] = received().split('\r\n\r\n')
      expect(responseHead).toMatch(/^HTTP\/1.1 408 /)
      expect(responseHead?.toLowerCase()).toContain('connection: close')
      expect(JSON.parse(body)).toMatchObject({
        code: 408,
        type: 'OperationTimeout',
        message: expect.stringContaining('body arrived too slowly'),
      })
    })
  })

  it('is closed when the body of a refused request arrives too slowly', async () => {
    const connection = await listening.connect()
    const received = receivedBy(connection.client)
    const closed = untilClosed(connection.client)
    await send(connection, `${head('POST /secret', 50)}{"text":"`)
    await vi.waitUntil(() => received().includes('"code":401'))
    time.advance(70 * second)
    await closed
    expect(received()).not.toContain('408')
  })

  it('stays while the server works on a response, however long, and is closed when its client is late', async () => {
    // The first connection is idle, too, until its request has been read.
    listening.app.server.setTimeout(1000)
    const waiting = await listening.connect()
    const received = receivedBy(waiting.client)
    await send(waiting, 'GET /wait HTTP/1.1\r\nHost: a\r\n\r\n')
    await vi.waitUntil(() => isWaiting)
    // Two others, one after the other, are idle for as long.
    for (let i = 0; i < 2; i++) {
      const late = await listening.connect()
      const closed = untilClosed(late.client)
      await send(late, `${head('POST /echo', 50)}{"text":"`)
      await closed
    }
    release()
    await vi.waitUntil(() => received().endsWith('{"done":true}'))
  })

  it('may send a long body as long as it makes progress', async () => {
    const connection = await listening.connect()
    const received = receivedBy(connection.client)
    const part = 'x'.repeat(1_100_000)
    await send(connection, `${head('POST /echo', 3 * part.length + 11)}{"text":"`)
    for (let i = 0; i < 3; i++) {
      time.advance(30 * second)
      await send(connection, part)
      time.advance(30 * second)
    }
    await send(connection, '"}')
    await vi.waitUntil(() => received().endsWith(`{"length":${3 * part.length}}`))
  })

  it('does not limit the pace of uploads, which their readers watch', async () => {
    const connection = await listening.connect()
    const received = receivedBy(connection.client)
    await send(connection, `${head('PUT /upload', 10)}12345`)
    time.advance(600 * second)
    await send(connection, '67890')
    await vi.waitUntil(() => received().endsWith('{"length":10}'))
  })

  it('gets 408 and is closed when the headers do not end', async () => {
    const { client } = await listening.connect()
    const received = receivedBy(client)
    limitHeads(checkMilliseconds)
    const dribble = setInterval(() => client.write('x'), 5)
    client.write('GET /echo HTTP/1.1\r\nX-Slow: ')
    await untilClosed(client)
    clearInterval(dribble)
    expect(received()).toMatch(/^HTTP\/1.1 408 /)
    expect(received()).toContain('"type":"OperationTimeout"')
  })

  it.each([
    ['GET /wait HT', 408],
    ['no HTTP at all\r\n\r\n', 400],
  ])('receives earlier responses before the refusal of %j', async (rest, status) => {
    const { client } = await listening.connect()
    const received = receivedBy(client)
    const noticed = once(listening.app.server, 'clientError')
    client.write(`GET /wait HTTP/1.1\r\nHost: a\r\n\r\n${rest}`)
    await vi.waitUntil(() => isWaiting)
    limitHeads(checkMilliseconds)
    await noticed
    expect(received()).toBe('')
    release()
    await untilClosed(client)
    expect(received().match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', `HTTP/1.1 ${status}`])
  })

  it('is closed when the client does not read the response', async () => {
    const { client, server } = await listening.connect()
    client.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n')
    await vi.waitUntil(() => server.writableLength > 0)
    time.advance(300 * second)
    expect(server.destroyed).toBe(false)
    time.advance(20 * second)
    expect(server.destroyed).toBe(true)
    client.destroy()
  })

  it('receives a response that it reads in time', async () => {
    const { client, server } = await listening.connect()
    client.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n')
    await vi.waitUntil(() => server.writableLength > 0)
    time.advance(200 * second)
    let length = 0
    client.on('data', (chunk) => {
      length += chunk.length
    })
    await vi.waitUntil(() => length > largeText.length && server.writableLength === 0)
    time.advance(400 * second)
    client.write('GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n')
    const before = length
    await vi.waitUntil(() => length > before)
  })

  it('has a response counted once the client has read what is not buffered', async () => {
    const counted = async () => {
      const families = await meter.collect()
      return families.find(({ name }) => name === 'botstead_http_requests_total')?.samples
    }
    const { client, server } = await listening.connect()
    client.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n')
    await vi.waitUntil(() => server.writableLength > 0)
    expect(await counted()).toEqual([])
    client.resume()
    await vi.waitFor(async () => {
      const labels = { operation: 'large', status: '2xx' }
      expect(await counted()).toEqual([{ labels, value: 1 }])
    })
  })

  it('sets no timer while no connection is open', async () => {
    expect(time.pending).toBe(0)
    const { client, server } = await listening.connect()
    await send({ client, server }, 'GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n')
    await vi.waitUntil(() => time.pending === 1)
    client.destroy()
    await vi.waitUntil(() => time.pending === 0)
  })
})
