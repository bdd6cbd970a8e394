import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextRound } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { freePort } from '../../../test/ports.js'
import { createAddressRules } from './address-rules.js'
import { createOutgoing, type OutgoingRequest } from './outgoing.js'
import { createResponseMemory } from './response-memory.js'

const request: OutgoingRequest = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"a":1}',
  timeoutMs: 60_000,
  maxResponseBytes: 1000,
}

describe('a call to another server', () => {
  const cleanups: (() => unknown)[] = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup()
  })

  async function listen(handler: RequestListener): Promise<{ url: string }> {
    const server = createServer(handler).listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    return { url: `http://localhost:${port}/bot?a=b` }
  }

  function open(allowLoopback: boolean, connectionsPerOrigin?: number, memoryBytes?: number) {
    const rules = createAddressRules({ allowed: [], allowLoopback })
    const outgoing = createOutgoing({
      rules,
      ...(connectionsPerOrigin && { connectionsPerOrigin }),
      ...(memoryBytes && { memory: createResponseMemory(memoryBytes, 'addresses') }),
    })
    cleanups.push(() => outgoing[Symbol.asyncDispose]())
    return outgoing
  }

  it('carries the request, and brings back status, headers and body', async () => {
    const { url } = await listen(async (incoming, response) => {
      const chunks: Buffer[] = await incoming.toArray()
      response.writeHead(400, { 'x-word': 'hello' })
      response.end(`${incoming.method} ${incoming.url} ${Buffer.concat(chunks)}`)
    })
    const response = await open(true).send(url, request)
    expect(response).toMatchObject({ status: 400, headers: { 'x-word': 'hello' }, cut: false })
    expect(response.body.toString()).toBe('POST /bot?a=b {"a":1}')
  })

  it('uses connections again', async () => {
    const ports = new Set<number | undefined>()
    const { url } = await listen((incoming, response) => {
      ports.add(incoming.socket.remotePort)
      response.end()
    })
    const outgoing = open(true)
    for (let i = 0; i < 10; i++) await outgoing.send(url, request)
    // The next call may come before the last connection is free again.
    expect(ports.size).toBeLessThan(10)
  })

  it('is refused when the name leads to an address that is not public', async () => {
    let calls = 0
    const { url } = await listen((_, response) => {
      calls += 1
      response.end()
    })
    const literal = url.replace('localhost', '127.0.0.1')
    const outgoing = open(false)
    for (const target of [url, literal, 'http://169.254.169.254/latest', 'http://[::1]/']) {
      await expect(outgoing.send(target, request)).rejects.toMatchObject({
        failure: 'refused',
        message: expect.stringContaining('BOTSTEAD_ALLOWED_NETWORKS'),
      })
    }
    expect(calls).toBe(0)
  })

  it.each(['ftp://example.com/', 'file:///etc/passwd', 'no address'])('refuses %s', async (url) => {
    await expect(open(true).send(url, request)).rejects.toMatchObject({ failure: 'refused' })
  })

  it('does not follow redirects', async () => {
    const { url } = await listen((_, response) => {
      response.writeHead(307, { location: 'http://169.254.169.254/' }).end()
    })
    expect((await open(true).send(url, request)).status).toBe(307)
  })

  it('reads no more of an endless response than wanted', async () => {
    const { url } = await listen((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(1000)));
      }
      response.on('drain', more)
      more()
    })
    const { body, cut } = await open(true).send(url, request)
    expect({ size: body.length, cut }).toEqual({ size: 1000, cut: true })
  })

  it('gets no more memory for responses that stay open than it leaves to other addresses', async () => {
    let begun = 0
    const hog = await listen((_, response) => {
      begun += 1
      response.write('x'.repeat(400))
    })
    const other = await listen((_, response) => response.end('y'.repeat(400)))
    const outgoing = open(true, undefined, 1000)
    const stop = new AbortController()
    const first = expect(outgoing.send(hog.url, { ...request, signal: stop.signal })).rejects
    await vi.waitUntil(() => begun === 1)
    await expect(outgoing.send(hog.url, request)).rejects.toMatchObject({
      failure: 'connection',
      message: expect.stringContaining('all addresses share 1.0 kB'),
    })
    const { body } = await outgoing.send(other.url, request)
    expect(body).toHaveLength(400)
    stop.abort(new Error('stopping'))
    await first.toThrow('stopping')
    // Its memory is free again.
    const { body: all } = await outgoing.send(other.url, request)
    expect(all).toHaveLength(400)
  })

  it('ends in time when there is no response, or no end of it', async () => {
    const { url } = await listen((incoming, response) => {
      if (incoming.url?.includes('begin')) response.write('begun')
    })
    const outgoing = open(true)
    for (const target of [url, `${url}&begin`]) {
      const call = outgoing.send(target, { ...request, timeoutMs: 50 })
      await expect(call).rejects.toMatchObject({ failure: 'timeout' })
    }
  })

  it('ends in time while it waits for a connection, and is not sent afterwards', async () => {
    const received: string[] = []
    let letGo = () => {}
    const { url } = await listen((incoming, response) => {
      received.push(incoming.url ?? '')
      letGo = () => response.end()
    })
    const outgoing = open(true, 1)
    const first = outgoing.send(`${url}&first`, request)
    await vi.waitUntil(() => received.length > 0)
    const stop = new AbortController()
    const late = outgoing.send(`${url}&late`, { ...request, timeoutMs: 50 })
    const stopped = outgoing.send(`${url}&stopped`, { ...request, signal: stop.signal })
    await expect(late).rejects.toMatchObject({ failure: 'timeout' })
    stop.abort(new Error('stopping'))
    await expect(stopped).rejects.toThrow('stopping')
    letGo()
    expect((await first).status).toBe(200)
    const last = outgoing.send(`${url}&last`, request)
    await vi.waitUntil(() => received.length > 1)
    letGo()
    expect((await last).status).toBe(200)
    expect(received).toEqual(['/bot?a=b&first', '/bot?a=b&last'])
  })

  it('explains in words why there was no connection', async () => {
    const { url } = await listen((incoming) => incoming.socket.destroy())
    const outgoing = open(true)
    await expect(outgoing.send(url, request)).rejects.toMatchObject({
      failure: 'connection',
      message: expect.stringContaining('broke'),
    })
    const nobody = `http://localhost:${await freePort()}`
    await expect(outgoing.send(nobody, request)).rejects.toMatchObject({
      failure: 'connection',
      message: expect.stringContaining('Nobody listens'),
    })
  })

  it('reads a response that came in time although the event loop was held until later', async () => {
    // 1 after the server got the request, 2 when it may respond, 3 after it did.
    const state = new Int32Array(new SharedArrayBuffer(4))
    const worker = new Worker(
      `const { parentPort, workerData: state } = require('node:worker_threads')
      const server = require('node:http').createServer((request, response) => {
        Atomics.store(state, 0, 1)
        Atomics.wait(state, 0, 1)
        response.end('in time', () => Atomics.store(state, 0, 3))
      })
      server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`,
      { eval: true, workerData: state },
    )
    cleanups.push(() => worker.terminate())
    const [port] = await once(worker, 'message')
    const timeoutMs = 3000
    const startedAt = performance.now()
    const call = open(true).send(`http://localhost:${port}/`, { ...request, timeoutMs })
    while (Atomics.load(state, 0) === 0) await nextRound()
    Atomics.store(state, 0, 2)
    Atomics.notify(state, 0)
    while (Atomics.load(state, 0) !== 3 || performance.now() - startedAt < timeoutMs + 200);
    expect(String((await call).body)).toBe('in time')
  })

  it('ends with the reason of its signal', async () => {
    const { url } = await listen(() => {})
    const stop = new AbortController()
    const call = open(true).send(url, { ...request, signal: stop.signal })
    stop.abort(new Error('stopping'))
    await expect(call).rejects.toThrow('stopping')
  })
})
