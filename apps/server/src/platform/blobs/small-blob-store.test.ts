import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeEachEngine, useDatabase } from '../../../test/engines.js'
import { smallBlobs } from '../../migrations/0073-small-blobs.js'
import { systemClock } from '../clock.js'
import type { BlobStore } from './blob-store.js'
import { testBlobStore } from './conformance.js'
import { openDiskBlobStore } from './disk.js'
import { smallBlobBytes, withSmallBlobs } from './small-blob-store.js'

describeEachEngine('small blobs', (engine) => {
  const database = useDatabase(engine, [smallBlobs])
  let root = ''
  let files: BlobStore
  let store: BlobStore

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'botstead-small-blobs-'))
    files = await openDiskBlobStore(root)
    store = withSmallBlobs(files, { ...database(), clock: systemClock })
  })
  afterAll(() => rm(root, { recursive: true }))

  const put = async (size: number, maxBytes?: number) => {
    const key = `blob_${randomUUID()}`
    const options = maxBytes === undefined ? {} : { maxBytes }
    await store.put(key, Readable.from([Buffer.alloc(size, 'a')]), options)
    return key
  }
  const isFile = async (key: string) =>
    (await readdir(root, { recursive: true })).some((path) => path.endsWith(key))

  testBlobStore('with small ones in the database', async () => store)

  testBlobStore(
    'in the database',
    async () => ({
      ...store,
      put: (key, content, options) =>
        store.put(key, content, { maxBytes: smallBlobBytes, ...options }),
    }),
    smallBlobBytes,
  )

  describe('a put', () => {
    it('makes a file unless it must be small', async () => {
      expect(await isFile(await put(10, smallBlobBytes))).toBe(false)
      expect(await isFile(await put(smallBlobBytes, smallBlobBytes))).toBe(false)
      expect(await isFile(await put(10, smallBlobBytes + 1))).toBe(true)
      expect(await isFile(await put(10))).toBe(true)
    })

    it('is told of a path only if there is a file', async () => {
      const key = await put(10, 10)
      expect(store.localPath?.(key, 10)).toBeUndefined()
      expect(store.localPath?.(key, smallBlobBytes + 1)).toContain(key)
    })
  })

  it('are removed together with those that are files', async () => {
    const keys = [await put(10, 10), await put(10), await put(smallBlobBytes, smallBlobBytes)]
    const kept = await put(10, 10)
    expect(await store.removeAll(keys)).toEqual({ removed: keys })
    for (const key of keys) {
      expect(await store.head(key)).toBeUndefined()
      expect(await isFile(key)).toBe(false)
    }
    expect(await store.head(kept)).toMatchObject({ size: 10 })
  })

  it('find, list and remove what an earlier version put into a file', async () => {
    const key = `blob_${randomUUID()}`
    await files.put(key, Readable.from([Buffer.from('of an earlier version')]))
    expect(String(await store.read(key, 21))).toBe('of an earlier version')
    expect(await store.head(key)).toMatchObject({ size: 21 })
    const listed: string[] = []
    for await (const blob of store.list()) listed.push(blob.key)
    expect(listed.filter((name) => name === key)).toHaveLength(1)
    await store.remove(key)
    expect(await isFile(key)).toBe(false)
  })
})
