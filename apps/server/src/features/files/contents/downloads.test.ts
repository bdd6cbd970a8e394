import { createHash } from 'node:crypto'
import { truncate } from 'node:fs/promises'
import { describe, expect, it, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { send, useFiles } from '../../../../test/files.js'

const minute = 60 * 1000
const hour = 60 * minute
const text = '0123456789'

describeSlow('the content of a file', (engine) => {
  const bench = useFiles(engine)

  describe('that is private', () => {
    it('is read for an hour at a signed address, which is new in each response', async () => {
      const bot = bench().newBot()
      const file = await bot.upload({ key: 'a.txt' }, text)
      expect(await (await fetch(file.url)).text()).toBe(text)
      bench().clock.advance(minute)
      const { file: again } = await bot.as().getFile({ id: file.id })
      expect(again.url).not.toBe(file.url)
      bench().clock.advance(hour - minute)
      expect((await fetch(file.url)).status).toBe(403)
      expect((await fetch(again.url)).status).toBe(200)
    })

    it('is not read without the signature, or with that of another file', async () => {
      const bot = bench().newBot()
      const file = await bot.upload({ key: 'a.txt' }, text)
      const other = await bot.upload({ key: 'b.txt' }, text)
      const plain = `${bench().url}/content/${file.id}`
      expect((await fetch(plain)).status).toBe(404)
      expect((await fetch(plain + new URL(other.url).search)).status).toBe(403)
      // Also when the server remembers that signature as valid.
      expect((await fetch(other.url)).status).toBe(200)
      expect((await fetch(plain + new URL(other.url).search)).status).toBe(403)
      expect((await fetch(`${plain}?signature=x`)).status).toBe(403)
    })

    it('cannot be distinguished from a missing file without a signature', async () => {
      const file = await bench().newBot().upload({ key: 'a.txt' }, text)
      const responses = await Promise.all(
        [file.id, 'file_unknown'].map(async (id) => {
          const response = await fetch(`${bench().url}/content/${id}`)
          return { status: response.status, ...((await response.json()) as object), id: '' }
        }),
      )
      expect(responses[0]).toEqual(responses[1])
    })
  })

  describe('that is public', () => {
    const open = { accessPolicies: ['public_content' as const] }

    it('has a permanent address', async () => {
      const bot = bench().newBot()
      const file = await bot.upload({ key: 'a.txt', ...open }, text)
      bench().clock.advance(100 * hour)
      expect((await bot.as().getFile({ id: file.id })).file.url).toBe(file.url)
      const response = await fetch(file.url)
      expect(await response.text()).toBe(text)
      expect(response.headers.get('cache-control')).toBe('public, no-cache')
    })

    it('can be read after processing, and at once with the flag', async () => {
      const bot = bench().newBot()
      await bench().pauseJobs()
      const waiting = await bot.upload({ key: 'a.md', index: true, ...open }, '# Title\n\nText.')
      const hasty = await bot.upload(
        { key: 'b.md', index: true, publicContentImmediatelyAccessible: true, ...open },
        '# Title\n\nText.',
      )
      expect(waiting.status).toBe('indexing_pending')
      expect(hasty.status).toBe('indexing_pending')
      expect((await fetch(waiting.url)).status).toBe(404)
      expect((await fetch(hasty.url)).status).toBe(200)
      bench().startJobs()
      await bot.awaitStatus('a.md', 'indexing_completed')
      expect((await fetch(waiting.url)).status).toBe(200)
    })

    it('can be read although it could not be indexed', async () => {
      const bot = bench().newBot()
      const file = await bot.uploadAndWait({ key: 'a.zip', index: true, ...open }, 'PK\x03\x04')
      expect(file.status).toBe('indexing_failed')
      expect((await fetch(file.url)).status).toBe(200)
    })
  })

  it('that was read before is read again without the store, and only while the file has it', async () => {
    const bot = bench().newBot()
    const reading = vi.spyOn(bench().blobs, 'read')
    const file = await bot.upload({ key: 'a.txt' }, text)
    expect(await (await fetch(file.url)).text()).toBe(text)
    const part = await fetch(file.url, { headers: { range: 'bytes=2-4' } })
    expect(await part.text()).toBe('234')
    expect(reading).toHaveBeenCalledTimes(1)
    await bot.upload({ key: 'a.txt' }, 'another')
    expect(await (await fetch(file.url)).text()).toBe('another')
    await bot.as().deleteFile({ id: file.id })
    expect((await fetch(file.url)).status).toBe(404)
    reading.mockRestore()
  })

  it('whose bytes are damaged is lost for every kind of request', async () => {
    const bot = bench().newBot()
    const file = await bot.upload({ key: 'a.txt' }, text)
    const { blob_key } = await bench()
      .database.db.selectFrom('file_contents')
      .select('blob_key')
      .where('file_id', '=', file.id)
      .executeTakeFirstOrThrow()
    await truncate(bench().blobs.localPath?.(blob_key ?? '', 5) ?? '', 5)
    for (const init of [{}, { method: 'HEAD' }, { headers: { range: 'bytes=2-7' } }]) {
      expect((await fetch(file.url, init)).status).toBe(410)
    }
  })

  it('is missing before the upload, after the file has expired and after the bot was deleted', async () => {
    const bot = bench().newBot()
    const expiresAt = new Date(bench().clock.now() + 2 * 60_000).toISOString()
    const { file: pending } = await bot.as().upsertFile({ key: 'pending', size: 1 })
    const expiring = await bot.upload({ key: 'expiring', expiresAt }, 'x')
    const orphaned = await bot.upload({ key: 'orphaned' }, 'x')
    expect((await fetch(pending.url)).status).toBe(404)
    expect((await fetch(expiring.url)).status).toBe(200)
    bench().clock.advance(2 * 60_000)
    expect((await fetch(expiring.url)).status).toBe(404)
    expect((await send(pending.uploadUrl, 'x')).status).toBe(200)
    bench().forgetBot(bot)
    expect((await fetch(orphaned.url)).status).toBe(404)
  })

  it('is available at every moment while it is replaced', async () => {
    const bot = bench().newBot()
    const { url } = await bot.upload({ key: 'a.txt' }, 'x0')
    let isReplacing = true
    const reading = (async () => {
      const seen = new Set<number>()
      while (isReplacing) {
        const response = await fetch(url)
        seen.add(response.status)
        if (response.ok) expect(await response.text()).toMatch(/^x\d+$/)
      }
      return [...seen]
    })()
    for (let round = 1; round <= 20; round++) await bot.upload({ key: 'a.txt' }, `x${round}`)
    isReplacing = false
    expect(await reading).toEqual([200])
  })

  it('is removed with its file at once, signed or public', async () => {
    const bot = bench().newBot()
    const hidden = await bot.upload({ key: 'a.txt' }, text)
    const open = await bot.upload({ key: 'b.txt', accessPolicies: ['public_content'] }, text)
    for (const { id, url } of [hidden, open]) {
      await bot.as().deleteFile({ id })
      expect((await fetch(url)).status).toBe(404)
    }
  })

  describe('is sent', () => {
    it('with the hash of the whole content, also in part', async () => {
      const file = await bench().newBot().upload({ key: 'a.txt' }, text)
      const hash = createHash('sha256').update(text).digest('base64')
      for (const range of ['bytes=0-', 'bytes=2-4']) {
        const response = await fetch(file.url, { headers: { range } })
        expect(response.headers.get('repr-digest')).toBe(`sha-256=:${hash}:`)
      }
    })

    it('only while it matches the tag in If-Match', async () => {
      const file = await bench().newBot().upload({ key: 'a.txt' }, text)
      const etag = (await fetch(file.url)).headers.get('etag') ?? ''
      expect((await fetch(file.url, { headers: { 'if-match': etag } })).status).toBe(200)
      expect((await fetch(file.url, { headers: { 'if-match': '"other"' } })).status).toBe(412)
    })

    it('with the security headers for browsers', async () => {
      const file = await bench().newBot().upload({ key: 'docs/Grüße.html' }, '<script>1</script>')
      const { headers } = await fetch(file.url)
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'text/html',
        'content-length': '18',
        'content-disposition': `attachment; filename="Gr__e.html"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.html`,
        'content-security-policy': expect.stringContaining('sandbox'),
        'x-content-type-options': 'nosniff',
        'accept-ranges': 'bytes',
        'cache-control': 'private, no-cache',
        etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
      })
    })

    it('without a body in response to HEAD', async () => {
      const file = await bench().newBot().upload({ key: 'a.txt' }, text)
      const get = await fetch(file.url)
      const head = await fetch(file.url, { method: 'HEAD' })
      expect(head.status).toBe(200)
      expect(await head.text()).toBe('')
      for (const name of ['content-length', 'content-type', 'etag', 'content-disposition']) {
        expect(head.headers.get(name)).toBe(get.headers.get(name))
      }
      const part = await fetch(file.url, { method: 'HEAD', headers: { range: 'bytes=0-3' } })
      expect(part.status).toBe(206)
      expect(part.headers.get('content-length')).toBe('4')
    })

    it.each([
      ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
      ['bytes=7-', 206, '789', 'bytes 7-9/10'],
      ['bytes=-2', 206, '89', 'bytes 8-9/10'],
      ['bytes=20-', 416, '', 'bytes */10'],
      ['bytes=0-1,3-4', 200, text, null],
    ])('in part in response to %s', async (range, status, body, contentRange) => {
      const file = await bench().newBot().upload({ key: 'a.txt' }, text)
      const response = await fetch(file.url, { headers: { range } })
      expect(response.status).toBe(status)
      expect(await response.text()).toBe(body)
      expect(response.headers.get('content-range')).toBe(contentRange)
    })

    it('with a tag that saves sending it again', async () => {
      const bot = bench().newBot()
      const file = await bot.upload({ key: 'a.txt' }, text)
      const etag = (await fetch(file.url)).headers.get('etag') ?? ''
      for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const same = await fetch(file.url, { headers: { 'if-none-match': tag } })
        expect(same.status).toBe(304)
        expect(await same.text()).toBe('')
        expect(same.headers.get('etag')).toBe(etag)
      }
      await bot.upload({ key: 'a.txt' }, 'abcdefghij')
      const stale = { 'if-none-match': etag, 'if-range': etag, range: 'bytes=0-1' }
      const changed = await fetch(file.url, { headers: stale })
      expect(changed.status).toBe(200)
      expect(await changed.text()).toBe('abcdefghij')
      const fresh = { 'if-range': changed.headers.get('etag') ?? '', range: 'bytes=0-1' }
      expect(await (await fetch(file.url, { headers: fresh })).text()).toBe('ab')
    })
  })
})
