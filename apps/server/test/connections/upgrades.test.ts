import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocket } from 'ws'
import { engines } from '../engines.js'
import { startTestServer, useServer } from '../harness.js'
import { listenApp } from '../http-app.js'
import {
  listenBySocket,
  openRoom,
  type RawAddress,
  type RawListener,
} from '../listening/raw-stream.js'
import {
  exchange,
  exchangeMany,
  offers,
  type RawResponse,
  receivedBy,
  request,
} from '../raw-http.js'

const lastRequest = request('GET /healthz', ['Connection: close'])

const statuses = (responses: readonly RawResponse[]) => responses.map(({ status }) => status)

function expectRefusal(response: RawResponse | undefined, status: number, type: string): void {
  expect(response?.status).toBe(status)
  expect(response?.headers.get('connection')).toBe('close')
  const id = response?.headers.get('x-request-id')
  expect(JSON.parse(response?.body ?? '')).toMatchObject({ id, code: status, type })
}

/** Fails while one of the two slots of a user is taken. */
async function takeBothPlaces(address: RawAddress): Promise<void> {
  const listeners: RawListener[] = []
  try {
    for (let i = 0; i < 2; i++) listeners.push(await listenBySocket(address))
  } finally {
    for (const each of listeners) each.close()
  }
}

describe('a request with the header Upgrade', () => {
  const server = useServer(undefined, { BOTSTEAD_MAX_LISTENERS_PER_USER: '2' })

  it.each(Object.entries(offers))('for %s that is not first is refused', async (_, offer) => {
    const before = request('GET /readyz')
    for (const after of ['', request('GET /healthz'), 'nonsense']) {
      const responses = await exchangeMany(server().url, [
        before + request('GET /healthz', offer) + after,
      ])
      expect(statuses(responses)).toEqual([200, 400])
      expectRefusal(responses[1], 400, 'InvalidPayload')
    }
  })

  it('behind a stream does not affect the stream', async () => {
    const room = await openRoom(server())
    const listen = `/chat/${room.webhookId}/conversations/${room.conversation.id}/listen`
    const { hostname, port } = new URL(server().url)
    const socket = connect(Number(port), hostname)
    const heard = receivedBy(socket)
    const key = `x-user-key: ${room.owner.userKey}`
    const offer = request('GET /healthz', offers.http2)
    socket.write(request(`GET ${listen}`, [key]) + offer)
    await vi.waitFor(() => expect(heard()).toContain('text/event-stream'))
    await room.say('still there')
    await vi.waitFor(() => expect(heard()).toContain('still there'))
    socket.destroy()
    await vi.waitFor(async () => await takeBothPlaces(room.address))
  })

  it('may be sent as soon as earlier requests have responses', async () => {
    const { hostname, port } = new URL(server().url)
    const socket = connect(Number(port), hostname)
    const received = receivedBy(socket)
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    onTestFinished(() => void process.off('warning', onWarning))
    for (let i = 1; i <= 30; i++) {
      socket.write(request('GET /healthz', offers.http2))
      await vi.waitFor(() => expect(received().split('"ok"')).toHaveLength(i + 1), { interval: 1 })
    }
    expect(received().match(/HTTP\/1\.1 \d+/g)).toEqual(Array(30).fill('HTTP/1.1 200'))
    expect(warnings.filter(({ name }) => name.startsWith('MaxListeners'))).toEqual([])
    socket.destroy()
  })

  it.each([
    ['h2c', offers.http2],
    ['something unknown', offers.unknown],
    ['WebSocket, where there is none,', offers.webSocket],
  ])('for %s is handled as if it had no such header, also with a body', async (_, offer) => {
    const room = await openRoom(server())
    const path = `/chat/${room.webhookId}/users`
    const json = [...offer, 'Content-Type: application/json']
    const sent = request(`POST ${path}`, json, '{"name":"Ada"}')
    const half = sent.length - 5
    for (const chunks of [
      [sent + lastRequest],
      [sent.slice(0, half), sent.slice(half) + lastRequest],
    ]) {
      const responses = await exchangeMany(server().url, chunks)
      expect(statuses(responses)).toEqual([201, 200])
      expect(responses[0]?.body).toContain('"name":"Ada"')
    }
    const responses = await exchangeMany(server().url, [
      request('GET /healthz', offer) + lastRequest,
    ])
    expect(statuses(responses)).toEqual([200, 200])
  })

  it('with more headers than are read is refused, because its length may be among them', async () => {
    const many = Array.from({ length: 1000 }, () => 'a:')
    const body = request('GET /healthz')
    const response = await exchange(server().url, [
      request('POST /healthz', [...offers.http2, ...many], body),
    ])
    expectRefusal(response, 413, 'PayloadTooLarge')
  })

  it('for WebSocket is refused by the same rules as others', async () => {
    const room = await openRoom(server())
    const listen = (id: string) => `/chat/${room.webhookId}/conversations/${id}/listen`
    const refusalOf = async (path: string, headers: readonly string[] = offers.webSocket) =>
      await exchange(server().url, [request(`GET ${path}`, headers)])
    const { id } = room.conversation
    expectRefusal(await refusalOf(listen(id)), 401, 'Unauthorized')
    expectRefusal(await refusalOf('/chat/nothing/conversations/x/listen'), 404, 'ResourceNotFound')
    expectRefusal(await refusalOf(listen('%zz')), 400, 'InvalidPayload')
    expectRefusal(await refusalOf(listen('x'.repeat(3000))), 400, 'InvalidPayload')
    const query = `?x-user-key=${room.owner.userKey}`
    expectRefusal(await refusalOf(listen('nothing') + query), 403, 'Forbidden')
    const plain = await server().fetch(listen('nothing'), {
      headers: { 'x-user-key': room.owner.userKey },
    })
    expect(plain.status).toBe(403)
  })

  it('and a broken handshake is refused, and holds no slot', async () => {
    const room = await openRoom(server())
    const { id } = room.conversation
    const path = `/chat/${room.webhookId}/conversations/${id}/listen?x-user-key=${room.owner.userKey}`
    const wrong = [
      offers.webSocket.filter((line) => !line.startsWith('Sec-WebSocket-Key')),
      offers.webSocket.map((line) => line.replace('Version: 13', 'Version: 99')),
      [...offers.webSocket, 'Sec-WebSocket-Protocol: (,'],
    ]
    for (const headers of wrong) {
      const response = await exchange(server().url, [request(`GET ${path}`, headers)])
      expectRefusal(response, 400, 'InvalidPayload')
      expect(response.headers.get('sec-websocket-version')).toBe('13')
    }
    await vi.waitFor(async () => await takeBothPlaces(room.address))
  })

  it('that breaks off at any moment does not affect the server', async () => {
    const room = await openRoom(server())
    const { id } = room.conversation
    const path = `/chat/${room.webhookId}/conversations/${id}/listen?x-user-key=${room.owner.userKey}`
    const { hostname, port } = new URL(server().url)
    for (let i = 0; i < 40; i++) {
      const socket = connect(Number(port), hostname).on('error', () => {})
      await once(socket, 'connect')
      socket.write(request(`GET ${path}`, offers.webSocket) + '\x81\xfe'.repeat(i % 5))
      await new Promise((resolve) => setTimeout(resolve, i % 4))
      socket.resetAndDestroy()
    }
    await vi.waitFor(async () => await takeBothPlaces(room.address))
  })
})

/** The code with which a WebSocket is closed. The server may reset what follows the close. */
async function codeOf(socket: WebSocket): Promise<number> {
  socket.on('error', () => undefined)
  return await new Promise((resolve) => socket.once('close', resolve))
}

describe('a WebSocket', () => {
  it('is closed when it sends too much, and notified when the server stops', async () => {
    const [engine] = engines
    if (engine === undefined) throw new Error('There is no engine to test on')
    const server = await startTestServer(engine)
    const room = await openRoom(server)
    const { id } = room.conversation
    const path = `/chat/${room.webhookId}/conversations/${id}/listen?x-user-key=${room.owner.userKey}`
    const open = async () => {
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}${path}`)
      await once(socket, 'open')
      return socket
    }
    const loud = await open()
    const refused = codeOf(loud)
    loud.send('x'.repeat(1025))
    expect(await refused).toBe(1009)
    const quiet = await open()
    const closed = codeOf(quiet)
    await server.close()
    expect(await closed).toBe(1001)
  })
})

describe('a server that cannot accept a connection', () => {
  it('continues', async () => {
    const listening = await listenApp({ routes: [] })
    listening.app.server.emit('error', new Error('accept EMFILE'))
    const { client } = await listening.connect()
    client.end('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    const received = receivedBy(client)
    await vi.waitFor(() => expect(received()).toMatch(/^HTTP\/1\.1 404 /))
    client.destroy()
    await listening.app.close()
  })
})

describe('CONNECT', () => {
  const server = useServer()

  it('is refused at any position', async () => {
    const connectTo = request('CONNECT example.org:443')
    const alone = await exchangeMany(server().url, [`${connectTo}more`])
    expect(statuses(alone)).toEqual([405])
    expectRefusal(alone[0], 405, 'MethodNotFound')
    const second = await exchangeMany(server().url, [request('GET /readyz') + connectTo])
    expect(statuses(second)).toEqual([200, 400])
  })
})
