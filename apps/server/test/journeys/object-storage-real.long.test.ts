import { randomUUID } from 'node:crypto'
import type { Client } from '@botstead/contract'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openS3BlobStore } from '../../src/platform/blobs/s3.js'
import { createS3Client } from '../../src/platform/blobs/s3-client.js'
import { engines } from '../engines.js'
import { startTestServer, type TestServer } from '../harness.js'
import { describeRealS3 } from '../s3/real.js'

describeRealS3('a server whose contents lie in an object store', (store) => {
  const prefix = `server-${randomUUID()}/`
  let server: TestServer
  let client: Client

  beforeAll(async () => {
    const [engine] = engines
    if (engine === undefined) throw new Error('There is no engine to test on')
    server = await startTestServer(engine, store().environment({ prefix }))
    const { bot } = await server.client().createBot()
    client = server.client({ botId: bot.id })
  })
  afterAll(async () => {
    await server?.close()
  })

  /** Keys of the contents in the store. */
  const kept = async () => {
    const keys: string[] = []
    const blobs = await openS3BlobStore(store().address({ prefix }))
    for await (const { key } of blobs.list()) keys.push(key)
    return keys
  }
  const awaitStatus = (id: string, status: string) =>
    vi.waitFor(
      async () => {
        const { file } = await client.getFile({ id })
        expect(file.status).toBe(status)
        return file
      },
      { timeout: 10_000, interval: 100 },
    )
  const manual = { redirect: 'manual' as const }

  it('is ready, and another one with the same prefix does not start', async () => {
    expect((await server.fetch('/readyz')).status).toBe(200)
    const [engine] = engines
    if (engine === undefined) throw new Error('There is no engine to test on')
    await expect(startTestServer(engine, store().environment({ prefix }))).rejects.toThrow(
      /^Another installation keeps its contents in/,
    )
  })

  it('uploads, searches, downloads and deletes a file', async () => {
    const content = '# Pump\n\nTurn the red valve to the left.'
    const size = Buffer.byteLength(content)
    const { file: announced } = await client.upsertFile({ key: 'pump.md', size, index: true })
    expect((await fetch(announced.uploadUrl, { method: 'PUT', body: content })).status).toBe(200)
    expect(await kept()).toHaveLength(1)
    const file = await awaitStatus(announced.id, 'indexing_completed')
    const { passages } = await client.searchFiles({ query: 'which valve?' })
    expect(passages[0]?.file.key).toBe('pump.md')

    expect(await (await fetch(file.url)).text()).toBe(content)
    const part = await fetch(file.url, { headers: { range: 'bytes=2-5' } })
    expect([part.status, await part.text()]).toEqual([206, 'Pump'])
    await client.deleteFile({ id: file.id })
    await vi.waitFor(async () => expect(await kept()).toEqual([]), { timeout: 10_000 })
  })

  it('uploads and downloads a content of several parts', async () => {
    const content = Buffer.alloc(20 * 1024 * 1024)
    for (let at = 0; at < content.length; at += 4) content.writeUInt32LE(at, at)
    const { file } = await client.upsertFile({ key: 'film.mp4', size: content.length })
    expect((await fetch(file.uploadUrl, { method: 'PUT', body: content })).status).toBe(200)
    const { url } = await awaitStatus(file.id, 'upload_completed')
    for (const address of [url, `${url}&direct=true`]) {
      const response = await fetch(address)
      expect(content.equals(Buffer.from(await response.arrayBuffer()))).toBe(true)
      const range = `bytes=${8 * 1024 * 1024 - 3}-${8 * 1024 * 1024 + 3}`
      const part = await fetch(address, { headers: { range } })
      const expected = content.subarray(8 * 1024 * 1024 - 3, 8 * 1024 * 1024 + 4)
      expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, expected])
    }
    await client.deleteFile({ id: file.id })
    await vi.waitFor(async () => expect(await kept()).toEqual([]), { timeout: 10_000 })
  })

  it('redirects an upload to the store, of the declared size only', async () => {
    const content = 'Sent straight to the store.'
    const { file: announced } = await client.upsertFile({
      key: 'direct.html',
      size: content.length,
    })
    const sent = await fetch(`${announced.uploadUrl}?direct=true`, { method: 'PUT', ...manual })
    expect(sent.status).toBe(307)
    const place = sent.headers.get('location') ?? ''
    expect(new URL(place).origin).not.toBe(server.url)
    expect((await fetch(place, { method: 'PUT', body: `${content}!` })).status).toBe(403)
    const forged = place.replace(/Signature=.{4}/, 'Signature=0000')
    expect((await fetch(forged, { method: 'PUT', body: content })).status).toBe(403)
    expect((await fetch(place, { method: 'PUT', body: content })).status).toBe(200)

    const file = await awaitStatus(announced.id, 'upload_completed')
    expect(file.size).toBe(content.length)
    const read = await fetch(`${file.url}&direct=true`)
    expect(new URL(read.url).origin).toBe(new URL(place).origin)
    expect(await read.text()).toBe(content)
    expect(read.headers.get('content-type')).toMatch(/^text\/html/)
    expect(read.headers.get('content-disposition')).toMatch(/^attachment; filename="direct\.html"/)
    expect(read.headers.get('cache-control')).toBeTruthy()
    await client.deleteFile({ id: file.id })
    await vi.waitFor(async () => expect(await kept()).toEqual([]), { timeout: 10_000 })
  })

  it('issues addresses that expire', async () => {
    const key = `blob_${randomUUID()}`
    const address = store().address({ prefix })
    const client = createS3Client(address)
    const presign = (lifetime: number) => client.presign({ method: 'GET', key, lifetime })
    expect((await fetch(await presign(600))).status).toBe(404)
    const place = await presign(1)
    await vi.waitFor(async () => expect((await fetch(place)).status).toBe(403), { timeout: 10_000 })
  })
})
