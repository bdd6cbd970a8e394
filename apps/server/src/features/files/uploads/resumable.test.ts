import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { Upload } from 'tus-js-client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { send, type TestBot, useFiles } from '../../../../test/files.js'
import { receivedBy } from '../../../../test/raw-http.js'

const day = 24 * 60 * 60_000
const bytes = 'application/offset+octet-stream'
const hash = (algorithm: string, text: string) =>
  createHash(algorithm).update(text).digest('base64')

describeSlow('a resumable upload', (engine) => {
  const bench = useFiles(engine)

  /** Checks that every blob belongs to some content, once the sweeper has run. */
  async function expectNothingLeft(): Promise<void> {
    await vi.waitFor(async () => {
      const { db } = bench().database
      const used = await db.selectFrom('file_contents').select('blob_key').execute()
      const parts = await db.selectFrom('content_parts').select('blob_key').execute()
      const known = new Set([...used, ...parts].map(({ blob_key }) => blob_key))
      for await (const { key } of bench().blobs.list()) expect(known).toContain(key)
    })
  }

  const newUpload = async (size: number, more: object = {}, bot: TestBot = bench().newBot()) => {
    const { file } = await bot.as().upsertFile({ key: 'a.bin', size, ...more })
    return { bot, id: file.id, url: file.uploadUrl }
  }

  const call = (method: string, url: string, headers: Record<string, string>, body?: string) =>
    fetch(url, { method, headers: { 'tus-resumable': '1.0.0', ...headers }, ...(body && { body }) })

  const append = (url: string, offset: number, body: string, more: Record<string, string> = {}) =>
    call('PATCH', url, { 'upload-offset': `${offset}`, 'content-type': bytes, ...more }, body)

  /** Resolves when the next bytes that arrive are being stored. */
  function untilStored(): Promise<boolean> {
    const put = vi.spyOn(bench().blobs, 'put')
    onTestFinished(() => put.mockRestore())
    return vi.waitUntil(() => put.mock.calls.length > 0)
  }

  async function offsetAt(url: string): Promise<number> {
    const response = await call('HEAD', url, {})
    expect(response.status).toBe(200)
    return Number(response.headers.get('upload-offset'))
  }

  async function refusal(answer: Promise<Response>) {
    const response = await answer
    expect(response.headers.get('tus-resumable')).toBe('1.0.0')
    const { type, message } = (await response.json()) as { type: string; message: string }
    return { status: response.status, type, message }
  }

  async function contentOf(bot: TestBot, key = 'a.bin'): Promise<string> {
    const file = await bot.awaitStatus(key, 'upload_completed')
    return await (await fetch(file.url)).text()
  }

  it('accepts a content in parts and assembles it, leaving nothing else', async () => {
    const { bot, url } = await newUpload(11)
    const states: (string | null)[] = []
    for (const [offset, text] of [
      [0, 'hello'],
      [5, ' '],
      [6, 'world'],
    ] as const) {
      const response = await append(url, offset, text)
      expect(response.status).toBe(204)
      states.push(response.headers.get('upload-offset'))
    }
    expect(states).toEqual(['5', '6', '11'])
    expect(await contentOf(bot)).toBe('hello world')
    await expectNothingLeft()
  })

  it('that needs one request is complete with its response', async () => {
    const { bot, id, url } = await newUpload(5)
    await append(url, 0, 'hello')
    const { file } = await bot.as().getFile({ id })
    expect(file).toMatchObject({ status: 'upload_completed', size: 5 })
  })

  it('reports its offset, and until when it can continue', async () => {
    const { bot, id, url } = await newUpload(10)
    expect(await offsetAt(url)).toBe(0)
    await append(url, 0, 'abc')
    const response = await call('HEAD', url, {})
    const { file } = await bot.as().getFile({ id })
    const expires = new Date(Date.parse(file.createdAt) + day)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'tus-resumable': '1.0.0',
      'upload-offset': '3',
      'upload-length': '10',
      'upload-expires': expires.toUTCString(),
      'cache-control': 'no-store',
    })
    await append(url, 3, 'defghij')
    await contentOf(bot)
    expect(await offsetAt(url)).toBe(10)
  })

  it('continues after the bytes that arrived before the connection broke', async () => {
    const { bot, url } = await newUpload(100)
    const { host, hostname, port, pathname } = new URL(url)
    const stored = untilStored()
    const socket = connect(Number(port), hostname).on('error', () => undefined)
    const head = `PATCH ${pathname} HTTP/1.1\r\nHost: ${host}\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Type: ${bytes}\r\nContent-Length: 100\r\n\r\n`
    socket.write(`${head}${'a'.repeat(60)}`)
    await stored
    socket.destroy()
    expect(await offsetAt(url)).toBe(60)
    expect((await append(url, 60, 'b'.repeat(40))).status).toBe(204)
    expect(await contentOf(bot)).toBe('a'.repeat(60) + 'b'.repeat(40))
  })

  it('is taken over from a stalled connection', async () => {
    const { url } = await newUpload(100)
    const { host, hostname, port, pathname } = new URL(url)
    const stored = untilStored()
    const silent = connect(Number(port), hostname)
    const received = receivedBy(silent)
    silent.write(
      `PATCH ${pathname} HTTP/1.1\r\nHost: ${host}\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Type: ${bytes}\r\nContent-Length: 100\r\n\r\n${'a'.repeat(10)}`,
    )
    await stored
    expect(await offsetAt(url)).toBe(10)
    await vi.waitFor(() => expect(received()).toContain('ResourceLockedConflict'))
    expect((await append(url, 10, 'b'.repeat(90))).status).toBe(204)
    silent.destroy()
  })

  it('of an empty content is complete with the first request', async () => {
    const { bot, url } = await newUpload(0)
    expect(await offsetAt(url)).toBe(0)
    expect(await contentOf(bot)).toBe('')
  })

  it('that is terminated leaves nothing, and the previous content stays', async () => {
    const bot = bench().newBot()
    const served = await bot.upload({ key: 'a.bin' }, 'old')
    const { id, url } = await newUpload(10, {}, bot)
    await append(url, 0, 'abc')
    expect((await call('DELETE', url, {})).status).toBe(204)
    expect((await call('HEAD', url, {})).status).toBe(410)
    expect((await bot.as().getFile({ id })).file).toMatchObject({
      status: 'upload_failed',
      failedStatusReason: 'The upload was given up by its sender.',
    })
    expect(await (await fetch(served.url)).text()).toBe('old')
    await expectNothingLeft()
  })

  it('that nobody continues is abandoned after a day, with all its parts', async () => {
    const { bot, id, url } = await newUpload(10)
    await append(url, 0, 'abc')
    bench().clock.advance(day)
    const expectGone = async () => {
      const gone = { status: 410, type: 'ResourceGone' }
      expect((await call('HEAD', url, {})).status).toBe(410)
      expect(await refusal(append(url, 3, 'defg'))).toMatchObject(gone)
      expect(await refusal(call('DELETE', url, {}))).toMatchObject(gone)
      expect(await refusal(call('POST', url, { 'upload-length': '10' }))).toMatchObject(gone)
    }
    await expectGone()
    await bench().database.run((tx) => bench().files.schedule(tx))
    const file = await bot.awaitStatus(id, 'upload_failed')
    expect(file.failedStatusReason).toBe('No content came within 24 hours.')
    await expectGone()
    await expectNothingLeft()
    const { db } = bench().database
    const parts = db.selectFrom('content_parts').select('start').where('file_id', '=', id)
    expect(await parts.execute()).toEqual([])
  })

  it('that expires while bytes come keeps none of them, and says so', async () => {
    const { bot, id, url } = await newUpload(10)
    const { host, hostname, port, pathname } = new URL(url)
    bench().clock.advance(day - 1000)
    const stored = untilStored()
    const sender = connect(Number(port), hostname)
    const received = receivedBy(sender)
    sender.write(
      `PATCH ${pathname} HTTP/1.1\r\nHost: ${host}\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Type: ${bytes}\r\nContent-Length: 10\r\n\r\nabc`,
    )
    await stored
    bench().clock.advance(1000)
    await bench().database.run((tx) => bench().files.schedule(tx))
    await bot.awaitStatus(id, 'upload_failed')
    sender.write('defghij')
    await vi.waitFor(() => expect(received()).toContain('410'))
    sender.destroy()
    await expectNothingLeft()
  })

  it('is superseded by a plain upload, a deletion and another upsert', async () => {
    const plain = await newUpload(3)
    await append(plain.url, 0, 'ab')
    expect((await send(plain.url, 'xyz')).status).toBe(200)
    expect(await contentOf(plain.bot)).toBe('xyz')
    expect(await refusal(append(plain.url, 2, 'c'))).toMatchObject({ type: 'AlreadyExists' })

    const deleted = await newUpload(3)
    await append(deleted.url, 0, 'ab')
    await deleted.bot.as().deleteFile({ id: deleted.id })
    expect(await refusal(append(deleted.url, 2, 'c'))).toMatchObject({ type: 'ResourceNotFound' })

    const replaced = await newUpload(3)
    await append(replaced.url, 0, 'ab')
    await newUpload(3, {}, replaced.bot)
    expect(await refusal(append(replaced.url, 2, 'c'))).toMatchObject({ type: 'ResourceGone' })
    await expectNothingLeft()
  })

  describe('refuses', () => {
    it.each([
      ['another version', { 'tus-resumable': '0.2.2' }, 412, 'InvalidPayload'],
      ['another media type', { 'content-type': 'text/plain' }, 415, 'UnsupportedMediaType'],
      ['a gap', { 'upload-offset': '2' }, 409, 'RelationConflict'],
      ['what is there already', { 'upload-offset': '0' }, 409, 'RelationConflict'],
      ['an offset that is none', { 'upload-offset': 'x' }, 400, 'InvalidPayload'],
      ['an unknown checksum', { 'upload-checksum': 'crc32 AAAA' }, 400, 'InvalidPayload'],
      ['a wrong checksum', { 'upload-checksum': 'sha1 AAAA' }, 460, 'InvalidPayload'],
    ])('%s', async (_, headers, status, type) => {
      const { url } = await newUpload(10)
      await append(url, 0, 'a')
      expect(await refusal(append(url, 1, 'bc', headers))).toMatchObject({ status, type })
      expect(await offsetAt(url)).toBe(1)
    })

    it('a POST of another protocol, with advice to send the content with PUT', async () => {
      const { url } = await newUpload(3)
      expect(await refusal(fetch(url, { method: 'POST', body: 'abc' }))).toEqual({
        status: 412,
        type: 'InvalidPayload',
        message:
          'headers.tus-resumable must be 1.0.0. Without it, send the whole content with PUT.',
      })
      expect((await fetch(url, { method: 'PUT', body: 'abc' })).status).toBe(200)
    })

    it('more than was declared, with or without a length', async () => {
      const { bot, url } = await newUpload(3)
      const tooMuch = { status: 413, type: 'LimitExceeded' }
      expect(await refusal(append(url, 0, 'abcd'))).toMatchObject(tooMuch)
      const init: RequestInit & { duplex: string } = {
        method: 'PATCH',
        headers: { 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-type': bytes },
        body: new Blob(['abcd']).stream(),
        duplex: 'half',
      }
      expect(await refusal(fetch(url, init))).toMatchObject(tooMuch)
      expect(await offsetAt(url)).toBe(0)
      await append(url, 0, 'abc')
      expect(await contentOf(bot)).toBe('abc')
    })

    it('bytes for a public file without the required header', async () => {
      const { url } = await newUpload(3, {
        accessPolicies: ['public_content'],
        publicContentImmediatelyAccessible: true,
      })
      expect(await refusal(append(url, 0, 'abc'))).toMatchObject({ status: 400 })
      expect((await append(url, 0, 'abc', { 'x-amz-tagging': 'public=true' })).status).toBe(204)
    })
  })

  it.each(['sha256', 'sha1', 'md5'])('checks a checksum by %s', async (algorithm) => {
    const { bot, url } = await newUpload(10)
    const checked = (text: string) => ({
      'upload-checksum': `${algorithm} ${hash(algorithm, text)}`,
    })
    expect((await append(url, 0, 'hello', checked('hello'))).status).toBe(204)
    expect((await append(url, 5, 'wXrld', checked('world'))).status).toBe(460)
    expect((await append(url, 5, 'world', checked('world'))).status).toBe(204)
    expect(await contentOf(bot)).toBe('helloworld')
  })

  it('can be created by clients that require it, and by POST alone', async () => {
    const { bot, url } = await newUpload(5)
    expect(await refusal(call('POST', url, { 'upload-length': '6' }))).toMatchObject({
      status: 400,
      message: expect.stringContaining('must be 5'),
    })
    const created = await call('POST', url, { 'upload-length': '5' })
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(url)
    const begun = await call('POST', url, { 'upload-length': '5', 'content-type': bytes }, 'he')
    expect(begun.headers.get('upload-offset')).toBe('2')
    const override = {
      'x-http-method-override': 'PATCH',
      'upload-offset': '2',
      'content-type': bytes,
    }
    expect((await call('POST', url, override, 'llo')).status).toBe(204)
    expect(await contentOf(bot)).toBe('hello')
  })

  it('allows browsers of any origin', async () => {
    const { url } = await newUpload(5)
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://www.example.com',
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'tus-resumable,upload-offset,content-type',
      },
    })
    expect(preflight.status).toBe(200)
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'tus-version': '1.0.0',
      'tus-extension': expect.stringContaining('termination'),
      'access-control-allow-methods': expect.stringContaining('PATCH'),
      'access-control-allow-headers': expect.stringContaining('upload-offset'),
    })
    const head = await call('HEAD', url, { origin: 'https://www.example.com' })
    expect(head.headers.get('access-control-expose-headers')).toContain('upload-offset')
  })

  describe('by the tus client', () => {
    const text = 'pump '.repeat(200_000)

    const upload = (options: object) =>
      new Promise<void>((resolve, reject) => {
        new Upload(Buffer.from(text), {
          retryDelays: [0, 10, 50, 100],
          onSuccess: () => resolve(),
          onError: reject,
          ...options,
        }).start()
      })

    it.each([
      ['at its address', (url: string) => ({ uploadUrl: url })],
      ['in small requests', (url: string) => ({ uploadUrl: url, chunkSize: 300_000 })],
      ['from an endpoint', (url: string) => ({ endpoint: url, uploadDataDuringCreation: true })],
      ['by POST alone', (url: string) => ({ uploadUrl: url, overridePatchMethod: true })],
    ])('works %s', async (_, options) => {
      const { bot, url } = await newUpload(text.length)
      await upload(options(url))
      expect(await contentOf(bot)).toBe(text)
    })
  })
})
