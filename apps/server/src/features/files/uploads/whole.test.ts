import { request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { send, useFiles } from '../../../../test/files.js'
import { exchange, receivedBy, untilClosed } from '../../../../test/raw-http.js'

const day = 24 * 60 * 60 * 1000

describeSlow('an upload', (engine) => {
  const bench = useFiles(engine)

  async function refusal(answer: Promise<Response>) {
    const response = await answer
    const { type, message } = (await response.json()) as { type: string; message: string }
    return { status: response.status, type, message }
  }

  async function blobKeys(): Promise<string[]> {
    const keys: string[] = []
    for await (const { key } of bench().blobs.list()) keys.push(key)
    return keys
  }

  /** Expects that blobs were added. Of those before, some may be removed at any moment. */
  async function expectAdded(before: readonly string[], count: number): Promise<void> {
    await vi.waitFor(async () => {
      const added = (await blobKeys()).filter((key) => !before.includes(key))
      expect(added).toHaveLength(count)
    })
  }

  it('completes the file without another call', async () => {
    const bot = bench().newBot()
    const { file } = await bot.as().upsertFile({ key: 'a.txt', size: 5 })
    const response = await send(file.uploadUrl, 'hello', { 'content-type': 'image/png' })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({})
    expect((await bot.as().getFile({ id: file.id })).file).toMatchObject({
      status: 'upload_completed',
      size: 5,
      contentType: 'text/plain',
    })
  })

  it('can be empty', async () => {
    const bot = bench().newBot()
    const file = await bot.upload({ key: 'empty.txt' }, '')
    expect(file).toMatchObject({ status: 'upload_completed', size: 0 })
    const content = await fetch(file.url)
    expect(content.status).toBe(200)
    expect(await content.text()).toBe('')
  })

  describe('of another size than declared', () => {
    it.each([
      ['larger', 'a'.repeat(2_000_000), 413, 'LimitExceeded'],
      ['smaller', 'a', 400, 'InvalidPayload'],
    ])('is refused when its length is %s', async (word, content, status, type) => {
      const bot = bench().newBot()
      const { file } = await bot.as().upsertFile({ key: 'a.txt', size: 10 })
      const message = expect.stringContaining(`${word} than declared`)
      expect(await refusal(send(file.uploadUrl, content))).toEqual({ status, type, message })
      expect((await bot.as().getFile({ id: file.id })).file).toMatchObject({
        status: 'upload_failed',
        failedStatusReason: message,
        size: null,
      })
    })

    it.each([
      ['larger', 2_000_000, 413],
      ['smaller', 1, 400],
    ])('is refused when it turns out to be %s, and leaves nothing', async (word, size, status) => {
      const before = await blobKeys()
      const bot = bench().newBot()
      const { file } = await bot.as().upsertFile({ key: 'a.txt', size: 1000 })
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new Uint8Array(size))
          controller.close()
        },
      })
      const init: RequestInit & { duplex: string } = { method: 'PUT', body, duplex: 'half' }
      expect(await refusal(fetch(file.uploadUrl, init))).toMatchObject({ status })
      expect((await bot.as().getFile({ id: file.id })).file).toMatchObject({
        status: 'upload_failed',
        failedStatusReason: expect.stringContaining(`${word} than declared`),
      })
      await expectAdded(before, 0)
    })

    it('fails for good, until another upsert', async () => {
      const bot = bench().newBot()
      const { file } = await bot.as().upsertFile({ key: 'a.txt', size: 2 })
      await send(file.uploadUrl, 'a')
      expect(await refusal(send(file.uploadUrl, 'ab'))).toMatchObject({ type: 'ResourceGone' })
      expect(await bot.upload({ key: 'a.txt' }, 'ab')).toMatchObject({ status: 'upload_completed' })
    })
  })

  it('that breaks off leaves the file unchanged, and can be repeated', async () => {
    const before = await blobKeys()
    const bot = bench().newBot()
    const { file } = await bot.as().upsertFile({ key: 'a.txt', size: 100 })
    const broken = request(file.uploadUrl, { method: 'PUT', headers: { 'content-length': 100 } })
    broken.on('error', () => undefined)
    await new Promise((written) => broken.write('only a part', written))
    const closed = new Promise((resolve) => broken.once('close', resolve))
    broken.destroy()
    await closed

    expect((await bot.as().getFile({ id: file.id })).file.status).toBe('upload_pending')
    expect((await send(file.uploadUrl, 'x'.repeat(100))).status).toBe(200)
    await expectAdded(before, 1)
  })

  it('is accepted once: afterwards its address is used up', async () => {
    const bot = bench().newBot()
    const { file } = await bot.as().upsertFile({ key: 'a.txt', size: 2 })
    await send(file.uploadUrl, 'ab')
    expect(await refusal(send(file.uploadUrl, 'ab'))).toMatchObject({
      status: 409,
      type: 'AlreadyExists',
    })
    await bot.as().upsertFile({ key: 'a.txt', size: 3 })
    expect(await refusal(send(file.uploadUrl, 'ab'))).toMatchObject({ status: 409 })
  })

  it('to the address of an older upsert is refused', async () => {
    const bot = bench().newBot()
    const { file } = await bot.as().upsertFile({ key: 'a.txt', size: 2 })
    await bot.as().upsertFile({ key: 'a.txt', size: 2 })
    expect(await refusal(send(file.uploadUrl, 'ab'))).toMatchObject({
      status: 410,
      type: 'ResourceGone',
    })
  })

  it('sent several times at once counts once', async () => {
    const before = await blobKeys()
    const bot = bench().newBot()
    const { file } = await bot.as().upsertFile({ key: 'a.txt', size: 3 })
    const responses = await Promise.all(
      ['abc', 'def', 'ghi'].map(async (content) => {
        const { ok } = await send(file.uploadUrl, content)
        return { content, ok }
      }),
    )
    const accepted = responses.filter(({ ok }) => ok)
    expect(accepted).toHaveLength(1)
    const { url } = (await bot.as().getFile({ id: file.id })).file
    expect(await (await fetch(url)).text()).toBe(accepted[0]?.content)
    await expectAdded(before, 1)
  })

  /** A connection that sends the head of a PUT and a part of its content, and then stays open. */
  async function openPut(uploadUrl: string, length: number, part: string) {
    const { host, hostname, port, pathname } = new URL(uploadUrl)
    const socket = connect(Number(port), hostname)
    const received = receivedBy(socket)
    const head = `PUT ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${length}\r\n\r\n`
    const { timers } = bench()
    await vi.waitUntil(() => timers.pending === 0)
    socket.write(head + part)
    // The server watches an upload once it has begun to receive it.
    await vi.waitUntil(() => timers.pending > 0)
    return { socket, received }
  }

  it('that stalls is ended, leaves nothing, and can be repeated', async () => {
    const before = await blobKeys()
    const bot = bench().newBot()
    const { file } = await bot.as().upsertFile({ key: 'a.txt', size: 100 })
    const { socket, received } = await openPut(file.uploadUrl, 100, 'only a part')
    bench().timers.advance(60_000)
    await vi.waitFor(() =>
      expect(received()).toMatch(/^HTTP\/1\.1 408 [\s\S]*fewer than 30000 bytes in a minute/),
    )
    socket.destroy()
    expect((await send(file.uploadUrl, 'x'.repeat(100))).status).toBe(200)
    await expectAdded(before, 1)
  })

  it('is superseded by a newer one at the same address', async () => {
    const before = await blobKeys()
    const bot = bench().newBot()
    const size = 2_000_000
    const { file } = await bot.as().upsertFile({ key: 'a.txt', size })
    const older = await openPut(file.uploadUrl, size, 'a'.repeat(1000))
    await vi.waitFor(async () => {
      const contents = bench().database.db.selectFrom('file_contents').select('writer')
      const { writer } = await contents.where('file_id', '=', file.id).executeTakeFirstOrThrow()
      expect(writer).not.toBeNull()
    })
    expect((await send(file.uploadUrl, 'b'.repeat(size))).status).toBe(200)
    older.socket.end('a'.repeat(size - 1000))
    await untilClosed(older.socket)
    expect(older.received()).toMatch(/^HTTP\/1\.1 409 [\s\S]*ResourceLockedConflict/)
    const { url } = (await bot.as().getFile({ id: file.id })).file
    expect(await (await fetch(url)).text()).toBe('b'.repeat(size))
    await expectAdded(before, 1)
  })

  it('shares its connection with the requests that follow', async () => {
    const bot = bench().newBot()
    const keys = ['a.txt', 'b.txt', 'c.txt']
    const puts: string[] = []
    for (const key of keys) {
      const { file } = await bot.as().upsertFile({ key, size: 5 })
      const { host, pathname } = new URL(file.uploadUrl)
      const close = key === 'c.txt' ? 'Connection: close\r\n' : ''
      puts.push(
        `PUT ${pathname} HTTP/1.1\r\nHost: ${host}\r\n${close}Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n`,
      )
    }
    const { status, body } = await exchange(bench().url, [puts.join('')])
    expect([status, ...(body.match(/HTTP\/1\.1 \d+/g) ?? [])]).toEqual([
      200,
      'HTTP/1.1 200',
      'HTTP/1.1 200',
    ])
    for (const key of keys) {
      const { url } = await bot.awaitStatus(key, 'upload_completed')
      expect(await (await fetch(url)).text()).toBe('hello')
    }
  })

  describe('address', () => {
    it('is refused when any one of its characters is changed', async () => {
      const bot = bench().newBot()
      const { file } = await bot.as().upsertFile({ key: 'a.txt', size: 1 })
      const { pathname, origin } = new URL(file.uploadUrl)
      const token = pathname.split('/').at(-1) ?? ''
      const signature = new URL(file.url).searchParams.get('signature') ?? ''
      const changed = (text: string, at: number) =>
        `${text.slice(0, at)}${text[at] === 'B' ? 'C' : 'B'}${text.slice(at + 1)}`
      const statuses = await Promise.all([
        ...Array.from(token, async (_, at) => {
          const response = await send(`${origin}/uploads/${changed(token, at)}`, 'a')
          return response.status
        }),
        ...Array.from(signature, async (_, at) => {
          const address = `${origin}/content/${file.id}?signature=${changed(signature, at)}`
          return (await fetch(address)).status
        }),
      ])
      expect(statuses.length).toBeGreaterThan(150)
      expect(new Set(statuses)).toEqual(new Set([403]))
    })

    it('works for a day', async () => {
      const bot = bench().newBot()
      const { file } = await bot.as().upsertFile({ key: 'a.txt', size: 1 })
      bench().clock.advance(day)
      expect(await refusal(send(file.uploadUrl, 'a'))).toMatchObject({
        status: 410,
        type: 'ResourceGone',
      })
      expect((await bot.as().getFile({ id: file.id })).file.status).toBe('upload_pending')
    })

    it('cannot be forged', async () => {
      const bot = bench().newBot()
      const { file } = await bot.as().upsertFile({ key: 'a.txt', size: 1 })
      const signature = new URL(file.url).searchParams.get('signature')
      const changed = file.uploadUrl.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
      for (const url of [
        changed,
        `${bench().url}/uploads/x`,
        `${bench().url}/uploads/${signature}`,
      ]) {
        expect(await refusal(send(url, 'a'))).toMatchObject({ type: 'Forbidden' })
      }
    })

    it('is not found once the file or the bot is gone', async () => {
      const bot = bench().newBot()
      const first = await bot.as().upsertFile({ key: 'a.txt', size: 1 })
      const second = await bot.as().upsertFile({ key: 'b.txt', size: 1 })
      await bot.as().deleteFile({ id: 'a.txt' })
      bench().forgetBot(bot)
      for (const { file } of [first, second]) {
        expect(await refusal(send(file.uploadUrl, 'a'))).toMatchObject({ type: 'ResourceNotFound' })
      }
    })
  })

  describe('of a file that is public at once', () => {
    const input = {
      key: 'a.txt',
      size: 1,
      accessPolicies: ['public_content' as const],
      publicContentImmediatelyAccessible: true,
    }

    it('requires the header', async () => {
      const { file } = await bench().newBot().as().upsertFile(input)
      for (const tagging of [undefined, 'public=false', 'publi=true']) {
        const headers: Record<string, string> = tagging ? { 'x-amz-tagging': tagging } : {}
        expect(await refusal(send(file.uploadUrl, 'a', headers))).toMatchObject({
          status: 400,
          type: 'InvalidPayload',
          message: expect.stringContaining('x-amz-tagging must be public=true'),
        })
      }
      const accepted = await send(file.uploadUrl, 'a', { 'x-amz-tagging': 'public=true' })
      expect(accepted.status).toBe(200)
    })

    it('does not require the header for a private file', async () => {
      const { accessPolicies: _, ...private_ } = input
      const { file } = await bench().newBot().as().upsertFile(private_)
      expect((await send(file.uploadUrl, 'a')).status).toBe(200)
    })
  })
})
