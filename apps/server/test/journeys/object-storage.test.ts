import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '@botstead/contract'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { describeInUsual, describeSlow, engines } from '../engines.js'
import { startTestServer, type TestServer } from '../harness.js'
import { type Fault, startTestS3, type TestS3 } from '../s3/server.js'

describeSlow('a server with an object store', (engine) => {
  const prefix = randomUUID()
  let s3: TestS3
  let server: TestServer
  let client: Client

  beforeAll(async () => {
    s3 = await startTestS3()
    server = await startTestServer(engine, { BOTSTEAD_BLOBS_URL: s3.url({ prefix }) })
    const { bot } = await server.client().createBot()
    client = server.client({ botId: bot.id })
  })
  afterEach(() => {
    s3.fault = undefined
  })
  afterAll(async () => {
    await server?.close()
    await s3?.close()
  })

  const kept = () =>
    s3.keys().filter((key) => key.startsWith(prefix) && !key.endsWith('botstead.owner'))
  const manual = { redirect: 'manual' as const }
  const awaitStatus = (id: string, status: string) =>
    vi.waitFor(
      async () => {
        const { file } = await client.getFile({ id })
        expect(file.status).toBe(status)
        return file
      },
      { interval: 50 },
    )

  async function announce(key: string, content: string, more: { index?: boolean } = {}) {
    const size = Buffer.byteLength(content)
    return (await client.upsertFile({ key, size, ...more })).file
  }

  it('refuses another installation on its contents', async () => {
    const environment = { BOTSTEAD_BLOBS_URL: s3.url({ prefix }) }
    await expect(startTestServer(engine, environment)).rejects.toThrow(
      /^Another installation keeps its contents in contents\/.*: give this one another prefix/,
    )
  })

  it('stores contents only there, from the upload to the deletion', async () => {
    const content = '# Pump\n\nTurn the red valve to the left.'
    const announced = await announce('manuals/pump.md', content, { index: true })
    expect((await fetch(announced.uploadUrl, { method: 'PUT', body: content })).status).toBe(200)
    expect(kept()).toHaveLength(1)
    const file = await awaitStatus(announced.id, 'indexing_completed')
    expect(await readdir(join(server.server.config.dataDir, 'blobs')).catch(() => [])).toEqual([])

    const part = await fetch(file.url, { headers: { range: 'bytes=2-5' } })
    expect([part.status, await part.text()]).toEqual([206, 'Pump'])
    const { passages } = await client.searchFiles({ query: 'which valve?' })
    expect(passages[0]?.file.key).toBe('manuals/pump.md')

    await client.deleteFile({ id: file.id })
    await vi.waitFor(() => expect(kept()).toEqual([]))
  })

  it('redirects an upload to the store and completes the file by itself', async () => {
    const content = 'Sent straight to the store.'
    const announced = await announce('direct.txt', content)
    const sent = await fetch(`${announced.uploadUrl}?direct=true`, { method: 'PUT', ...manual })
    expect(sent.status).toBe(307)
    const place = sent.headers.get('location') ?? ''
    expect(place.startsWith(s3.endpoint)).toBe(true)

    // The store enforces the announced size.
    const longer = await fetch(place, { method: 'PUT', body: `${content}!` })
    expect([longer.status, await longer.text()]).toEqual([403, expect.stringMatching(/Signature/)])
    expect((await fetch(place, { method: 'PUT', body: content })).status).toBe(200)
    const file = await awaitStatus(announced.id, 'upload_completed')
    expect(file.size).toBe(content.length)
    expect(await (await fetch(file.url)).text()).toBe(content)
    await vi.waitFor(() => expect(kept().filter((key) => key.includes('direct_'))).toEqual([]))
    const used = await fetch(`${announced.uploadUrl}?direct=true`, { method: 'PUT', ...manual })
    expect(used.status).toBe(409)
  })

  it('accepts an upload of a caller that follows the redirect', async () => {
    const content = 'Followed.'
    const announced = await announce('followed.txt', content)
    const address = `${announced.uploadUrl}?direct=true`
    const sent = await fetch(address, { method: 'PUT', body: content })
    expect([sent.status, sent.redirected]).toEqual([200, true])
    await awaitStatus(announced.id, 'upload_completed')
  })

  it('redirects a download to an address of the store with the right headers', async () => {
    const content = '<script>alert(1)</script>'
    const announced = await announce('page.html', content)
    await fetch(announced.uploadUrl, { method: 'PUT', body: content })
    const file = await awaitStatus(announced.id, 'upload_completed')
    const address = `${file.url}&direct=true`

    const sent = await fetch(address, manual)
    expect([sent.status, sent.headers.get('cache-control')]).toEqual([307, 'no-store'])
    const read = await fetch(address, { headers: { range: 'bytes=1-6' } })
    expect(read.url.startsWith(s3.endpoint)).toBe(true)
    expect([read.status, await read.text()]).toEqual([206, 'script'])
    expect(read.headers.get('content-type')).toBe('text/html')
    expect(read.headers.get('content-disposition')).toMatch(/^attachment; filename="page\.html"/)

    const head = await fetch(address, { method: 'HEAD', ...manual })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '25'])
    const headers = { 'if-none-match': head.headers.get('etag') ?? '' }
    expect((await fetch(address, { headers, ...manual })).status).toBe(304)
    const forged = address.replace(/signature=.../, 'signature=AAA')
    expect((await fetch(forged, manual)).status).toBe(403)
  })

  it.each<[string, number, Fault]>([
    [
      'breaks every connection',
      5,
      (_, response) => {
        response.socket?.resetAndDestroy()
        return 'handled'
      },
    ],
    [
      'is overloaded',
      5,
      (_, response) => {
        response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>')
        return 'handled'
      },
    ],
    [
      'refuses the credentials',
      1,
      (_, response) => {
        response.writeHead(403).end('<Error><Code>InvalidAccessKeyId</Code></Error>')
        return 'handled'
      },
    ],
  ])(
    'indexes a file by itself after a long time in which the store %s',
    async (_, tries, fault) => {
      const content = `# Lamp ${tries}\n\nIt glows.`
      const announced = await announce('lamp.md', content, { index: true })
      let requests = 0
      s3.fault = (seen, response) => {
        if (seen.method !== 'GET' || !seen.key.startsWith(prefix)) return undefined
        if (!seen.key.endsWith('botstead.owner')) requests += 1
        return fault(seen, response)
      }
      expect((await fetch(announced.uploadUrl, { method: 'PUT', body: content })).status).toBe(200)
      // More attempts than a file has that cannot be read.
      for (const attempt of [1, 2, 3, 4]) {
        await vi.waitFor(() => expect(requests).toBeGreaterThanOrEqual(attempt * tries))
        await server.pass(30_000)
      }
      expect((await client.getFile({ id: announced.id })).file.status).toBe('indexing_pending')
      s3.fault = undefined
      await server.pass(30_000)
      await awaitStatus(announced.id, 'indexing_completed')
      await client.deleteFile({ id: announced.id })
    },
  )

  it('gives up a content that always breaks off at the same byte, and lets other files pass it', async () => {
    const content = '# Lamp\n\nIt glows in the dark.'
    const cut = new Set<string>()
    let isCollecting = true
    // Breaks off every response behind the tenth byte of a content.
    s3.fault = ({ method, key }, response) => {
      if (method === 'PUT' && isCollecting) cut.add(key)
      if (method !== 'GET' || !cut.has(key)) return undefined
      if (key === [...cut][1]) {
        response.writeHead(500).end()
        return 'handled'
      }
      const from = Number(/^bytes=(\d+)-/.exec(response.req.headers.range ?? '')?.[1] ?? 0)
      const { length } = content
      response.writeHead(from === 0 ? 200 : 206, {
        'content-length': length - from,
        ...(from > 0 && { 'content-range': `bytes ${from}-${length - 1}/${length}` }),
      })
      response.flushHeaders()
      response.write(content.slice(from, 10), () => response.socket?.resetAndDestroy())
      return 'handled'
    }
    // More than are indexed at a time.
    const files = await Promise.all(
      Array.from({ length: 8 }, (_, number) =>
        announce(`cut-${number}.md`, content, { index: true }),
      ),
    )
    await Promise.all(
      files.map(({ uploadUrl }) => fetch(uploadUrl, { method: 'PUT', body: content })),
    )
    isCollecting = false
    const { bot } = await server.client().createBot()
    const other = server.client({ botId: bot.id })
    const { file } = await other.upsertFile({ key: 'a.md', size: content.length, index: true })
    await fetch(file.uploadUrl, { method: 'PUT', body: content })
    // Each attempt at a content that breaks off takes seconds.
    await vi.waitFor(
      async () => {
        const { file: now } = await other.getFile({ id: file.id })
        expect(now.status).toBe('indexing_completed')
      },
      { timeout: 20_000 },
    )
    await vi.waitFor(
      async () => {
        // Once for all files: time that passes while another one is read ends the lease of its job.
        await server.pass(30_000)
        const now = await Promise.all(files.map(({ id }) => client.getFile({ id })))
        expect(new Set(now.map(({ file }) => file.status))).toEqual(new Set(['indexing_failed']))
      },
      { timeout: 40_000, interval: 50 },
    )
    const [{ id = '', key = '' } = {}] = files
    const failed = await client.getFile({ id })
    expect(failed.file.failedStatusReason).toMatch(
      /^The stored content could not be read, 3 times, although the store of contents responds\. Upload the file again; the log of the server says why under the job /,
    )
    s3.fault = undefined
    const again = await announce(key, content, { index: true })
    await fetch(again.uploadUrl, { method: 'PUT', body: content })
    await awaitStatus(id, 'indexing_completed')
    for (const each of files) await client.deleteFile({ id: each.id })
  })

  it('is not ready during an outage of the store, and refuses an upload so that it can be repeated', async () => {
    const announced = await announce('later.txt', 'later')
    const away: Fault = (_, response) => {
      response.destroy()
      return 'handled'
    }
    s3.fault = away
    // The result of a probe is reused for half a second.
    await vi.waitFor(async () => {
      const ready = await server.fetch('/readyz')
      expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('contents')])
    })
    const put = () => fetch(announced.uploadUrl, { method: 'PUT', body: 'later' })
    const refused = await put()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    s3.fault = undefined
    await vi.waitFor(async () => expect((await server.fetch('/readyz')).status).toBe(200))
    expect((await put()).status).toBe(200)
    await awaitStatus(announced.id, 'upload_completed')
  })
})

describeInUsual('a server whose object store cannot be used', () => {
  it('does not start, and reports the reason', async () => {
    const s3 = await startTestS3()
    const environment = { BOTSTEAD_BLOBS_URL: s3.url({ bucket: 'nowhere' }) }
    try {
      const [engine] = engines
      if (engine === undefined) throw new Error('There is no engine to test on')
      await expect(startTestServer(engine, environment)).rejects.toThrow(
        /^There is no bucket nowhere/,
      )
    } finally {
      await s3.close()
    }
  })
})
