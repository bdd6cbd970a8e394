import type { Socket } from 'node:net'
import { operation } from '@botstead/contract'
import { Type } from 'typebox'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ListeningApp, listenApp } from '../../../test/http-app.js'
import { receivedBy, untilClosed } from '../../../test/raw-http.js'
import { route } from '../mount.js'

const wait = operation({
  id: 'wait',
  method: 'GET',
  path: '/wait/{id}',
  tag: 'Service',
  summary: 'Respond when the test allows it',
  auth: 'public',
  params: Type.Object({ id: Type.Integer() }),
  response: { kind: 'json', schema: Type.Unknown() },
  status: 200,
  errors: [],
})
const large = operation({ ...wait, id: 'large', path: '/large/{id}' })

/** The request that owns the connection, and those that are processed behind it. */
const maxStarted = 17
const largeText = 'x'.repeat(1_000_000)

describe('pipelined requests', () => {
  let listening: ListeningApp
  let started: number[]
  let release: () => void

  beforeEach(async () => {
    started = []
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    listening = await listenApp({
      connections: { heldLimit: 1000, startedLimit: 30 },
      routes: [
        route(wait, async ({ params }) => {
          started.push(params.id)
          await released
          return { id: params.id }
        }),
        route(large, async ({ params }) => {
          started.push(params.id)
          return { id: params.id, text: largeText }
        }),
      ],
    })
  })
  afterEach(async () => {
    release()
    listening.app.server.closeAllConnections()
    await listening.app.close()
  })

  it('with an invalid body get their refusal after the earlier responses', async () => {
    const { client } = await listening.connect()
    const received = receivedBy(client)
    client.write(
      `${requests('wait', 1)}POST /nowhere HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nzz\r\n\r\n`,
    )
    await vi.waitUntil(() => started.length === 1)
    await roundTrip()
    expect(received()).toBe('')
    release()
    await untilClosed(client)
    expect(received()).toMatch(/{"id":0}HTTP\/1\.1 4[\s\S]*The request is not valid HTTP/)
  })

  const requests = (kind: string, count: number, header = '') =>
    Array.from(
      { length: count },
      (_, id) => `GET /${kind}/${id} HTTP/1.1\r\nHost: a\r\n${header}\r\n`,
    ).join('')
  const upTo = (count: number) => Array.from({ length: count }, (_, id) => id)
  /** A request on another connection; when it completes, earlier input has been processed. */
  const roundTrip = () => fetch(`http://127.0.0.1:${listening.port}/nowhere`)

  function idsReadFrom(client: Socket): number[] {
    const ids: number[] = []
    let rest = ''
    client.on('data', (chunk) => {
      rest += chunk
      for (const [, id] of rest.matchAll(/{"id":(\d+)[,}]/g)) ids.push(Number(id))
      // The possible beginning of the next response.
      rest = /{[^}]{0,20}$/.exec(rest)?.[0].match(/^{(?!"id":\d+,).*/)?.[0] ?? ''
    })
    return ids
  }

  it('are started a few at a time, and all get their responses in order', async () => {
    const { client } = await listening.connect()
    const ids = idsReadFrom(client)
    client.write(requests('wait', 1000))
    await vi.waitUntil(() => started.length === maxStarted)
    await roundTrip()
    expect(started).toEqual(upTo(maxStarted))
    release()
    await vi.waitFor(() => expect(ids).toEqual(upTo(1000)))
    // The connection remains usable afterwards.
    client.write(requests('wait', 3))
    await vi.waitFor(() => expect(ids).toEqual([...upTo(1000), 0, 1, 2]))
  })

  it('are not read while earlier ones are held', async () => {
    const { client, server } = await listening.connect()
    const ids = idsReadFrom(client)
    const count = 3000
    client.write(requests('wait', count, `X-Filler: ${'x'.repeat(5000)}\r\n`))
    await vi.waitUntil(() => started.length === maxStarted)
    for (let i = 0; i < 20; i++) await roundTrip()
    expect(started.length).toBe(maxStarted)
    // Only a few chunks of 64 KiB are read, of the 15 MB that were sent.
    expect(server.bytesRead).toBeLessThan(500_000)
    release()
    await vi.waitFor(() => expect(ids).toEqual(upTo(count)))
  })

  it('wait while the client does not read earlier responses', async () => {
    const { client, server } = await listening.connect()
    const count = 60
    client.write(requests('large', count))
    await vi.waitUntil(() => server.writableLength > 0)
    for (let i = 0; i < 5; i++) await roundTrip()
    expect(started.length).toBeLessThan(count)
    const ids = idsReadFrom(client)
    await vi.waitFor(() => expect(ids).toEqual(upTo(count)))
  })

  it('are started one at a time when many connections pipeline', async () => {
    const connections = await Promise.all(upTo(20).map(() => listening.connect()))
    const read = connections.map(({ client }) => idsReadFrom(client))
    for (const { client } of connections) client.write(requests('wait', 40))
    // The first of each connection, and as many behind those as all connections may have together.
    await vi.waitUntil(() => started.length >= 20 + 30)
    for (let i = 0; i < 5; i++) await roundTrip()
    expect(started).toHaveLength(20 + 30)
    // Requests that a closed connection had started are no longer counted.
    for (const { client } of connections.slice(0, 10)) client.destroy()
    release()
    await vi.waitFor(() => expect(read.slice(10)).toEqual(Array(10).fill(upTo(40))))
    started = []
    const { client } = await listening.connect()
    const ids = idsReadFrom(client)
    client.write(requests('large', 30))
    await vi.waitFor(() => expect(ids).toEqual(upTo(30)))
  })

  it('are dropped with their connection', async () => {
    const { client, server } = await listening.connect()
    client.write(requests('wait', 500))
    await vi.waitUntil(() => started.length === maxStarted)
    server.destroy()
    client.destroy()
    await untilClosed(server)
    release()
    await roundTrip()
    expect(started.length).toBe(maxStarted)
  })

  it('close their connection when too many are held in total', async () => {
    const open: Awaited<ReturnType<typeof listening.connect>>[] = []
    while (!open.some(({ server }) => server.destroyed)) {
      const connection = await listening.connect()
      connection.client.write(requests('wait', 500))
      open.push(connection)
      await roundTrip()
    }
    expect(open.length).toBeGreaterThan(2)
    expect(open.filter(({ server }) => server.destroyed)).toHaveLength(1)
    // Other connections are still served, also when they pipeline.
    const { client } = await listening.connect()
    const ids = idsReadFrom(client)
    client.write(requests('large', 30))
    await vi.waitFor(() => expect(ids).toEqual(upTo(30)))
  })
})
