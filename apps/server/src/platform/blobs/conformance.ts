import { createHash, randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import {
  BlobNotFoundError,
  BlobRangeError,
  type BlobStore,
  BlobTooLargeError,
  type ByteRange,
} from './blob-store.js'

/** A stream that gives its chunks and then nothing, without an end. */
export function stalled(...chunks: Uint8Array[]): Readable {
  const left = [...chunks]
  return new Readable({
    read() {
      const chunk = left.shift()
      if (chunk) this.push(chunk)
    },
  })
}

/** A stream that gives a chunk, calls back when more is wanted, and gives nothing else. */
function givesThen(chunk: Uint8Array, wanted: () => void): Readable {
  let given = false
  return new Readable({
    read() {
      if (given) return wanted()
      given = true
      this.push(chunk)
    },
  })
}

/**
 * Tests that every blob store must pass.
 * @param largest bytes of the largest content that it takes
 */
export function testBlobStore(
  name: string,
  make: () => Promise<BlobStore>,
  largest = Number.POSITIVE_INFINITY,
): void {
  describe(`blob store: ${name}`, () => {
    const severalReads = Math.min(300_000, largest)
    let store: BlobStore
    const newKey = () => `blob_${randomUUID()}`
    const content = Buffer.from('The content of a blob, long enough to cut ranges out of it.')

    beforeAll(async () => {
      store = await make()
    })

    const put = async (bytes: Uint8Array = content, key = newKey()) => {
      await store.put(key, Readable.from([bytes]))
      return key
    }
    const read = async (key: string, range?: ByteRange) => buffer(await store.get(key, range))

    describe('a put', () => {
      it('returns the bytes of any chunks, and their size and SHA-256', async () => {
        const maxLength = Math.min(5_000, largest / 20)
        const chunks = fc.array(fc.uint8Array({ maxLength }), { maxLength: 20 })
        await fc.assert(
          fc.asyncProperty(chunks, async (parts) => {
            const key = newKey()
            const whole = Buffer.concat(parts)
            const stored = await store.put(key, Readable.from(parts, { objectMode: false }))
            const sha256 = createHash('sha256').update(whole).digest('hex')
            expect(stored).toEqual({ size: whole.length, sha256 })
            expect(whole.equals(await read(key))).toBe(true)
          }),
          { numRuns: 30 },
        )
      })

      it('replaces what the key held', async () => {
        const key = await put()
        await put(Buffer.from('new'), key)
        expect((await read(key)).toString()).toBe('new')
        expect(await store.head(key)).toMatchObject({ size: 3 })
      })

      it('is complete or absent when several put the same key', async () => {
        const key = newKey()
        const contents = ['a', 'b', 'c', 'd'].map((letter) => Buffer.alloc(severalReads, letter))
        await Promise.all(contents.map((bytes) => put(bytes, key)))
        const found = await read(key)
        expect(contents.filter((bytes) => bytes.equals(found))).toHaveLength(1)
      })

      it('takes exactly as much as it may', async () => {
        const key = newKey()
        await store.put(key, Readable.from([content]), { maxBytes: content.length })
        expect(await store.head(key)).toMatchObject({ size: content.length })
      })

      it('refuses what is not bytes', async () => {
        const key = newKey()
        await expect(store.put(key, Readable.from(['text']))).rejects.toThrow(TypeError)
        expect(await store.head(key)).toBeUndefined()
      })
    })

    if (largest === Number.POSITIVE_INFINITY) {
      describe('a put of a large content', () => {
        it('takes more than one write holds', async () => {
          const parts = Array.from({ length: 40 }, (_, at) => Buffer.alloc(100_003, at))
          const key = newKey()
          await store.put(key, Readable.from(parts))
          expect(Buffer.concat(parts).equals(await read(key))).toBe(true)
        })

        it('takes a large content and gives it back, also across the borders of its parts', async () => {
          const mebibyte = 1024 * 1024
          const chunkSize = 100_003
          const whole = Buffer.alloc(20 * mebibyte)
          for (let at = 0; at < whole.length; at += 4) whole.writeUInt32LE(at, at)
          const chunks = Array.from({ length: Math.ceil(whole.length / chunkSize) }, (_, at) =>
            whole.subarray(at * chunkSize, (at + 1) * chunkSize),
          )
          const key = newKey()
          const stored = await store.put(key, Readable.from(chunks), { maxBytes: whole.length })
          const sha256 = createHash('sha256').update(whole).digest('hex')
          expect(stored).toEqual({ size: whole.length, sha256 })
          expect(whole.equals(await read(key))).toBe(true)
          const range = { start: 8 * mebibyte - 5, end: 16 * mebibyte + 5 }
          expect(whole.subarray(range.start, range.end + 1).equals(await read(key, range))).toBe(
            true,
          )
        })

        it('is visible only once it is complete', async () => {
          const key = newKey()
          let left = 20
          const source: Readable = new Readable({
            read() {
              if (left > 0) this.push(Buffer.alloc(1024 * 1024))
              left -= 1
            },
          })
          const attempt = store.put(key, source)
          await vi.waitUntil(() => left < 0)
          expect(await store.head(key)).toBeUndefined()
          await expect(store.get(key)).rejects.toThrow(BlobNotFoundError)
          source.push(null)
          expect(await attempt).toMatchObject({ size: 20 * 1024 * 1024 })
          expect(await store.head(key)).toMatchObject({ size: 20 * 1024 * 1024 })
        })

        it('leaves nothing when it is aborted in the middle of a large content', async () => {
          const key = newKey()
          const controller = new AbortController()
          let left = 20
          const source = new Readable({
            read() {
              if (left-- > 0) this.push(Buffer.alloc(1024 * 1024))
              else controller.abort()
            },
          })
          const attempt = store.put(key, source, { signal: controller.signal })
          await expect(attempt).rejects.toMatchObject({ name: 'AbortError' })
          expect(await store.head(key)).toBeUndefined()
          expect(await store.sweepTemporary(0)).toBe(0)
        })
      })
    }

    describe('a put that fails', () => {
      it('stops reading as soon as the content is too large, and leaves the stream open', async () => {
        const key = await put(Buffer.from('before'))
        let produced = 0
        const endless = new Readable({
          read() {
            produced += 1000
            this.push(Buffer.alloc(1000))
          },
        })
        const attempt = store.put(key, endless, { maxBytes: 5_000 })
        await expect(attempt).rejects.toThrow(BlobTooLargeError)
        await expect(attempt).rejects.toMatchObject({ maxBytes: 5_000 })
        expect(endless.destroyed).toBe(false)
        expect(produced).toBeLessThan(200_000)
        expect((await read(key)).toString()).toBe('before')
        endless.destroy()
      })

      it('passes on the error of its stream and stores nothing', async () => {
        const key = newKey()
        const broken: Readable = givesThen(content, () => broken.destroy(new Error('cable pulled')))
        await expect(store.put(key, broken)).rejects.toThrow('cable pulled')
        expect(await store.head(key)).toBeUndefined()
      })

      it('passes on an error that comes before the first byte is read', async () => {
        const key = newKey()
        const broken = stalled()
        const attempt = store.put(key, broken)
        broken.destroy(new Error('cable pulled'))
        await expect(attempt).rejects.toThrow('cable pulled')
        expect(await store.head(key)).toBeUndefined()
      })

      it('counts a stream that ends before its time as failed', async () => {
        const key = newKey()
        const cut = stalled(content)
        const attempt = store.put(key, cut)
        cut.destroy()
        await expect(attempt).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' })
        expect(await store.head(key)).toBeUndefined()
      })

      it('ends at once when it is aborted, also while the stream gives nothing', async () => {
        const key = newKey()
        const controller = new AbortController()
        const waiting = givesThen(content, () => controller.abort())
        const attempt = store.put(key, waiting, { signal: controller.signal })
        await expect(attempt).rejects.toMatchObject({ name: 'AbortError' })
        expect(waiting.destroyed).toBe(true)
        expect(await store.head(key)).toBeUndefined()
      })

      it('does not begin when it is aborted before', async () => {
        const key = newKey()
        const attempt = store.put(key, Readable.from([content]), { signal: AbortSignal.abort() })
        await expect(attempt).rejects.toMatchObject({ name: 'AbortError' })
        expect(await store.head(key)).toBeUndefined()
      })
    })

    describe('a range', () => {
      it('is the same part of the content', async () => {
        const key = await put()
        const position = fc.nat({ max: content.length - 1 })
        await fc.assert(
          fc.asyncProperty(position, position, async (one, other) => {
            const range = { start: Math.min(one, other), end: Math.max(one, other) }
            const expected = content.subarray(range.start, range.end + 1)
            expect(expected.equals(await read(key, range))).toBe(true)
          }),
          { numRuns: 30 },
        )
      })

      it.each([
        [0, content.length],
        [content.length, content.length],
        [5, 4],
        [-1, 4],
      ])('from %i to %i is refused', async (start, end) => {
        const key = await put()
        await expect(store.get(key, { start, end })).rejects.toThrow(BlobRangeError)
      })

      it('that is all of it is read at once, if it has the expected size', async () => {
        for (const bytes of [content, Buffer.alloc(0)]) {
          const key = await put(bytes)
          expect((await store.read(key, bytes.length)).equals(bytes)).toBe(true)
          await expect(store.read(key, bytes.length + 1)).rejects.toThrow(BlobRangeError)
        }
      })

      it('of nothing does not exist', async () => {
        const key = await put(Buffer.alloc(0))
        await expect(store.get(key, { start: 0, end: 0 })).rejects.toThrow(BlobRangeError)
        expect(await read(key)).toHaveLength(0)
      })
    })

    describe('a blob', () => {
      it('returns its size and age', async () => {
        const before = Date.now()
        const facts = await store.head(await put())
        expect(facts?.size).toBe(content.length)
        // Stores keep whole seconds at worst, on a clock of their own.
        expect(Math.abs((facts?.storedAt ?? 0) - before)).toBeLessThan(60_000)
      })

      it('is gone once it is removed, which may be repeated', async () => {
        const key = await put()
        await store.remove(key)
        await store.remove(key)
        expect(await store.head(key)).toBeUndefined()
        await expect(store.get(key)).rejects.toThrow(BlobNotFoundError)
      })

      it('is gone once it is removed with others, of which some are gone already', async () => {
        const keys = [await put(), newKey(), await put(), await put(Buffer.alloc(severalReads))]
        const kept = await put()
        expect(await store.removeAll(keys)).toEqual({ removed: keys })
        for (const key of keys) expect(await store.head(key)).toBeUndefined()
        expect(await store.head(kept)).toBeDefined()
        expect(await store.removeAll([])).toEqual({ removed: [] })
      })

      it('that never was is not found, also not in part', async () => {
        await expect(store.get(newKey())).rejects.toThrow(BlobNotFoundError)
        await expect(store.get(newKey(), { start: 0, end: 1 })).rejects.toThrow(BlobNotFoundError)
        await expect(store.read(newKey(), 1)).rejects.toThrow(BlobNotFoundError)
      })

      it('can be read to its end while it is removed, and can be left half read', async () => {
        const key = await put(Buffer.alloc(severalReads, 'a'))
        const half = await store.get(key)
        for await (const chunk of half) {
          expect(chunk[0]).toBe(97)
          break
        }
        expect(half.destroyed).toBe(true)
        await store.remove(key)
        expect(await store.head(key)).toBeUndefined()
      })

      it('is listed once among more than a page of others', { timeout: 90_000 }, async () => {
        // An object store lists a thousand at once.
        const keys = Array.from({ length: 1_050 }, newKey)
        const left = [...keys]
        const putSome = async () => {
          for (let key = left.pop(); key !== undefined; key = left.pop()) await put(content, key)
        }
        await Promise.all(Array.from({ length: 20 }, putSome))
        const listed: string[] = []
        for await (const { key } of store.list()) listed.push(key)
        expect(new Set(listed).size).toBe(listed.length)
        expect(keys.filter((key) => !listed.includes(key))).toEqual([])
      })

      it('is listed with its facts until it is removed', async () => {
        const [kept, removed] = [await put(), await put()]
        await store.remove(removed)
        const listed = new Map<string, number>()
        for await (const { key, size } of store.list()) listed.set(key, size)
        expect(listed.get(kept)).toBe(content.length)
        expect(listed.has(removed)).toBe(false)
      })
    })

    it.each([
      '',
      'short',
      '../../../etc/passwd',
      '..%2F..%2Fpasswd',
      'folder/content',
      'folder\\content',
      'content.txt',
      'with space',
      'nul\0character',
      'línea-uno',
      'x'.repeat(129),
    ])('the key %j is refused everywhere', async (key) => {
      await expect(store.put(key, Readable.from([content]))).rejects.toThrow(TypeError)
      await expect(store.get(key)).rejects.toThrow(TypeError)
      await expect(store.head(key)).rejects.toThrow(TypeError)
      await expect(store.remove(key)).rejects.toThrow(TypeError)
      expect(await store.removeAll([key])).toMatchObject({
        removed: [],
        failure: expect.any(TypeError),
      })
    })

    it('the check passes where everything works', async () => {
      await expect(store.check()).resolves.toBeUndefined()
    })

    it('the sweep leaves blobs and puts under way alone', async () => {
      const key = newKey()
      const other = await put()
      const wanted = new EventEmitter()
      const slow = givesThen(content, () => wanted.emit('more'))
      const reached = once(wanted, 'more')
      const attempt = store.put(key, slow)
      await reached
      await store.sweepTemporary(0)
      slow.push(null)
      expect(await attempt).toMatchObject({ size: content.length })
      expect(content.equals(await read(key))).toBe(true)
      expect(content.equals(await read(other))).toBe(true)
    })
  })
}
