import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { freePort } from '../../../test/ports.js'
import { type Fault, useTestS3 } from '../../../test/s3/server.js'
import { BlobNotFoundError } from './blob-store.js'
import { stalled } from './conformance.js'
import { openS3BlobStore, type S3Options } from './s3.js'
import { parseS3Address } from './s3-address.js'

const mebibyte = 1024 * 1024
const partSize = 5 * mebibyte
const s3 = useTestS3()
const newKey = () => `blob_${randomUUID()}`

afterEach(() => {
  s3().fault = undefined
})

const open = (url = s3().url(), options: S3Options = {}) =>
  openS3BlobStore(parseS3Address(url, {}), { firstPause: 1, partSize, ...options })

/** A fault that hits the first so many requests that match. */
function first(
  times: number,
  matches: (seen: Parameters<Fault>[0]) => boolean,
  fault: Fault,
): Fault {
  let left = times
  return (seen, response) => (matches(seen) && left-- > 0 ? fault(seen, response) : undefined)
}

const slowDown: Fault = (_, response) => {
  response.writeHead(503).end('<Error><Code>SlowDown</Code><Message>Slow down.</Message></Error>')
  return 'handled'
}
const reset: Fault = (_, response) => {
  response.socket?.resetAndDestroy()
  return 'handled'
}
const silence: Fault = () => 'handled'

/** Twelve parts, the last of a size of its own. */
const large = () => Array.from({ length: 12 }, (_, at) => Buffer.alloc(mebibyte, at))

describe('a store that fails for a moment', () => {
  it.each([
    ['responds 503 SlowDown', slowDown],
    ['resets the connection', reset],
    ['cuts its response', () => 'cut-response'],
  ] as [string, Fault][])('and %s loses nothing of a large put', async (_, fault) => {
    const store = await open()
    const hit = new Map<string, number>()
    // Every kind of request fails the first time.
    s3().fault = (seen, response) => {
      const kind = `${seen.method} ${[...seen.query.keys()]} ${seen.query.get('partNumber')}`
      hit.set(kind, (hit.get(kind) ?? 0) + 1)
      return hit.get(kind) === 1 ? fault(seen, response) : undefined
    }
    const key = newKey()
    await store.put(key, Readable.from(large()))
    expect(hit.size).toBeGreaterThanOrEqual(5)
    expect(Buffer.concat(large()).equals(await buffer(await store.get(key)))).toBe(true)
    expect(await store.head(key)).toMatchObject({ size: 12 * mebibyte })
    await store.remove(key)
    // The sweep removes the upload whose start got no response.
    await store.sweepTemporary(0)
    expect(s3().openUploads()).toEqual([])
  })

  it('and does not respond at all is tried again', async () => {
    const store = await open(undefined, { idleTimeout: 1000 })
    s3().fault = first(1, () => true, silence)
    await store.put('blob_silence', Readable.from([Buffer.from('content')]))
    expect((await buffer(await store.get('blob_silence'))).toString()).toBe('content')
  })

  it('and breaks off a download again and again is read to the end', async () => {
    const store = await open()
    const key = newKey()
    await store.put(key, Readable.from(large()))
    s3().fault = first(
      4,
      ({ method }) => method === 'GET',
      () => 'cut-response',
    )
    expect(Buffer.concat(large()).equals(await buffer(await store.get(key)))).toBe(true)
    s3().fault = first(
      2,
      ({ method }) => method === 'GET',
      () => 'cut-response',
    )
    const range = { start: mebibyte - 1, end: 6 * mebibyte }
    const part = await buffer(await store.get(key, range))
    expect(
      Buffer.concat(large())
        .subarray(range.start, range.end + 1)
        .equals(part),
    ).toBe(true)
  })
})

describe('a store that keeps failing', () => {
  it('fails a put, and nothing can be read or is left', async () => {
    const store = await open()
    const key = newKey()
    s3().fault = (seen, response) =>
      seen.query.get('partNumber') === '2' ? slowDown(seen, response) : undefined
    const content = stalled(...large(), ...large())
    await expect(store.put(key, content)).rejects.toMatchObject({ code: 'SlowDown', status: 503 })
    expect(content.destroyed).toBe(false)
    expect(await store.head(key)).toBeUndefined()
    expect(s3().openUploads()).toEqual([])
  })

  it('leaves an upload in parts to the sweep when even giving it up fails', async () => {
    const store = await open()
    s3().fault = (seen, response) =>
      seen.query.get('partNumber') === '2' || seen.method === 'DELETE'
        ? reset(seen, response)
        : undefined
    await expect(store.put(newKey(), Readable.from(large()))).rejects.toThrow()
    s3().fault = undefined
    expect(s3().openUploads()).toHaveLength(1)
    expect(await store.sweepTemporary(60_000)).toBe(0)
    expect(await store.sweepTemporary(0)).toBe(1)
    expect(s3().openUploads()).toEqual([])
  })

  it('refuses with an error that is not tried again when trying cannot help', async () => {
    const store = await open()
    const before = s3().seen.length
    s3().fault = (_, response) => {
      response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>')
      return 'handled'
    }
    const attempt = store.put(newKey(), Readable.from([Buffer.from('content')]))
    await expect(attempt).rejects.toMatchObject({ code: 'AccessDenied' })
    expect(s3().seen.length).toBe(before + 1)
  })

  it('ends a download with an error, never too early without one', async () => {
    const store = await open()
    const key = newKey()
    await store.put(key, Readable.from([Buffer.alloc(mebibyte)]))
    let gets = 0
    s3().fault = (seen, response) => {
      if (seen.method !== 'GET') return undefined
      gets += 1
      return gets === 1 ? 'cut-response' : reset(seen, response)
    }
    await expect(buffer(await store.get(key))).rejects.toThrow()
  })
})

describe('a put', () => {
  it('reads its content no faster than the store takes it', async () => {
    const store = await open()
    let held: (() => void) | undefined
    s3().fault = (seen) => {
      if (!seen.query.has('partNumber') || held) return undefined
      held = () => undefined
      return 'handled'
    }
    let produced = 0
    const endless = new Readable({
      read() {
        produced += mebibyte
        this.push(Buffer.alloc(mebibyte))
      },
    })
    const controller = new AbortController()
    const attempt = store.put(newKey(), endless, { signal: controller.signal })
    await vi.waitUntil(() => held !== undefined && endless.readableFlowing !== true)
    // One part on its way, one gathered and what the stream itself reads ahead.
    await vi.waitUntil(() => produced >= 2 * partSize)
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(produced).toBeLessThanOrEqual(2 * partSize + 2 * mebibyte)
    controller.abort()
    await expect(attempt).rejects.toMatchObject({ name: 'AbortError' })
    expect(s3().openUploads()).toEqual([])
  })

  it('whose completion was done without a response succeeds', async () => {
    const store = await open()
    const key = newKey()
    s3().fault = first(
      1,
      ({ method, query }) => method === 'POST' && query.has('uploadId'),
      () => 'lost-response',
    )
    expect(await store.put(key, Readable.from(large()))).toMatchObject({ size: 12 * mebibyte })
    expect(await store.head(key)).toMatchObject({ size: 12 * mebibyte })
  })

  it('has parts large enough for the most bytes that may come', async () => {
    const store = await open()
    const before = s3().seen.length
    const maxBytes = 10_000 * 6 * mebibyte
    await store.put(newKey(), Readable.from(large()), { maxBytes })
    const parts = s3()
      .seen.slice(before)
      .filter(({ query }) => query.has('partNumber'))
    expect(parts).toHaveLength(2)
  })

  it('of another process is left alone by the sweep while its parts keep coming', async () => {
    const prefix = randomUUID()
    const store = await open(s3().url({ prefix }))
    const controller = new AbortController()
    // The last sweep fails a part that is still on its way.
    const attempt = store.put(newKey(), stalled(...large()), { signal: controller.signal })
    const failed = expect(attempt).rejects.toThrow()
    const isPart = ({ key, query }: { key: string; query: URLSearchParams }) =>
      key.startsWith(prefix) && query.has('partNumber')
    await vi.waitUntil(() => s3().seen.some(isPart) && s3().openUploads().length === 1)
    const other = await open(s3().url({ prefix }))
    s3().backdateUploads(3_600_000)
    expect(await other.sweepTemporary(60_000)).toBe(0)
    expect(await store.sweepTemporary(0)).toBe(0)
    expect(await other.sweepTemporary(0)).toBe(1)
    controller.abort()
    await failed
  })
})

describe('a store below another prefix of the same bucket', () => {
  it('sees nothing of this one', async () => {
    const [one, other] = [await open(), await open()]
    const key = newKey()
    await one.put(key, Readable.from([Buffer.from('content')]))
    await expect(other.get(key)).rejects.toThrow(BlobNotFoundError)
    for await (const { key: listed } of other.list()) expect.fail(`${listed} was listed`)
  })
})

describe('a store that sends what no store sends', () => {
  const answer =
    (body: string, headers: Record<string, string> = {}): Fault =>
    (_, response) => {
      response.writeHead(200, headers).end(body)
      return 'handled'
    }
  const listed = async (store: Awaited<ReturnType<typeof open>>) => {
    const keys: string[] = []
    for await (const { key } of store.list()) keys.push(key)
    return keys
  }

  // A pattern for these texts takes minutes, in which nothing else happens.
  it.each([
    ['tags without an end', '<Contents>'.repeat(200_000)],
    ['tags that are never closed', '<Contents a '.repeat(200_000)],
    ['tags that one bracket closes', `${'<Contents a '.repeat(200_000)}/></Contents>`],
    ['contents without a key', '<Contents></Contents>'.repeat(30_000)],
    ['keys without an end', `<Contents>${'<Key a '.repeat(200_000)}</Contents>`],
    [
      'tokens without an end',
      `<IsTruncated>true</IsTruncated>${'<NextContinuationToken>'.repeat(30_000)}`,
    ],
  ])('and lists %s, lists nothing', async (_, body) => {
    const store = await open()
    s3().fault = answer(body)
    expect(await listed(store)).toEqual([])
  })

  it('and announces one empty page after the other, is not asked for ever', async () => {
    const store = await open()
    let asked = 0
    s3().fault = (_, response) => {
      const token = `<NextContinuationToken>${++asked}</NextContinuationToken>`
      response.end(`<List><IsTruncated>true</IsTruncated>${token}</List>`)
      return 'handled'
    }
    await expect(listed(store)).rejects.toThrow('has no end')
    await expect(store.check()).rejects.toThrow('has no end')
    expect(asked).toBe(202)
  })

  it('and lists odd elements among others, is read', async () => {
    const url = s3().url()
    const prefix = new URL(url).pathname.slice(1)
    const store = await open(url)
    s3().fault = answer(
      `<List><ContentsOfOthers><Key>${prefix}/no</Key></ContentsOfOthers><Contents/>
      <Contents x="y"><Size>1</Size><Key >${prefix}/blob_one&amp;</Key><LastModified>2020-01-01</LastModified></Contents>
      <Contents><Key>${prefix}/blob_two</Key></Contents></List>`,
    )
    expect(await listed(store)).toEqual(['blob_two'])
  })

  it('and sends more of a content than it announced, is read no further', async () => {
    const store = await open()
    await store.put('blob_long', Readable.from([Buffer.from('content')]))
    s3().fault = answer('content and more', { 'content-range': 'bytes 0-6/7' })
    await expect(store.read('blob_long', 7)).rejects.toThrow('longer than announced')
  })

  it('and does not say how long a content is, is not read', async () => {
    const store = await open()
    s3().fault = (_, response) => {
      response.writeHead(200).write('a')
      response.end('b')
      return 'handled'
    }
    await expect(store.get('blob_endless')).rejects.toThrow('does not say how long')
  })
})

describe('a store that cannot be used is refused at the start with what to do', () => {
  it.each([
    [
      'a missing bucket',
      () => s3().url({ bucket: 'nowhere' }),
      /^There is no bucket nowhere at http.*: create it/,
    ],
    [
      'a wrong secret',
      () => s3().url({ secret: 'wrong' }),
      /refuses the credentials \(SignatureDoesNotMatch\): check AWS_ACCESS_KEY_ID/,
    ],
    [
      'an unknown key',
      () => s3().url().replace('BOTSTEAD:', 'NOBODY:'),
      /refuses the credentials \(InvalidAccessKeyId\)/,
    ],
  ])('with %s', async (_, url, message) => {
    await expect(open(url())).rejects.toThrow(message)
  })

  it('with no server at the address', async () => {
    const url = s3()
      .url()
      .replace(
        encodeURIComponent(s3().endpoint),
        encodeURIComponent(`http://127.0.0.1:${await freePort()}`),
      )
    await expect(open(url)).rejects.toThrow(/cannot be reached: .*ECONNREFUSED/)
  })

  it.each([
    ['RequestTimeTooSkewed', '', /clock of this machine/],
    ['AccessDenied', '', /may not use the bucket contents .* list, read, write and delete/],
    [
      'PermanentRedirect',
      '<Region>eu-west-1</Region>',
      /not in the region us-east-1: set region=eu-west-1/,
    ],
  ])('with %s', async (code, more, message) => {
    s3().fault = (_, response) => {
      response.writeHead(403).end(`<Error><Code>${code}</Code>${more}</Error>`)
      return 'handled'
    }
    await expect(open()).rejects.toThrow(message)
  })

  it('and so does the check of one that went away', async () => {
    const store = await open()
    await expect(store.check()).resolves.toBeUndefined()
    s3().fault = reset
    await expect(store.check()).rejects.toThrow(/cannot be reached/)
  })
})
