import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { mkdtemp, open, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { programPath } from '../../../test/programs.js'
import { BlobStoreFullError } from './blob-store.js'
import { stalled, testBlobStore } from './conformance.js'
import { openDiskBlobStore } from './disk.js'

const key = 'file_01ARYZ6S41TSV4RRFFQ69G5FAV'
let root: string
let folders = 0

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'botstead-blobs-'))
})

afterAll(() => rm(root, { recursive: true }))
afterEach(() => vi.restoreAllMocks())

testBlobStore('disk', () => openDiskBlobStore(join(root, 'conformance')))

async function makeStore() {
  const folder = join(root, `store-${folders++}`)
  const store = await openDiskBlobStore(folder)
  return { folder, draftFolder: join(folder, 'tmp'), store }
}

it('a blob on disk is a file that other processes can read', async () => {
  const { store } = await makeStore()
  await store.put(key, Readable.from([Buffer.from('content')]))
  expect(String(await readFile(store.localPath?.(key, 7) ?? ''))).toBe('content')
  expect(() => store.localPath?.('../../../etc/passwd', 7)).toThrow('A blob key has')
})

it('contents on disk are read in large pieces, and in small ones while many are', async () => {
  const { store } = await makeStore()
  const size = 1024 * 1024
  await store.put(key, Readable.from([Buffer.alloc(size)]))
  const open = () => store.get(key, { start: 0, end: size - 1 })
  const pieceOf = async () => {
    const content = await open()
    let largest = 0
    for await (const piece of content) largest = Math.max(largest, piece.length)
    return largest
  }
  expect(await pieceOf()).toBe(512 * 1024)
  const others = await Promise.all(Array.from({ length: 600 }, open))
  expect(await pieceOf()).toBe(64 * 1024)
  await Promise.all(others.map((other) => once(other.destroy(), 'close')))
  expect(await pieceOf()).toBe(512 * 1024)
})

describe('a put on disk', () => {
  it('leaves no draft behind, whether it succeeds or fails', async () => {
    const { store, draftFolder } = await makeStore()
    await store.put(key, Readable.from([Buffer.from('content')]))
    const tooLarge = store.put(key, Readable.from([Buffer.alloc(10)]), { maxBytes: 9 })
    await expect(tooLarge).rejects.toThrow()
    expect(await readdir(draftFolder)).toEqual([])
  })

  it('can be read by the owner only', async () => {
    const { store, folder } = await makeStore()
    await store.put(key, Readable.from([Buffer.from('content')]))
    const [shard] = (await readdir(folder)).filter((name) => name !== 'tmp')
    const path = join(folder, String(shard))
    expect((await stat(path)).mode & 0o777).toBe(0o700)
    expect((await stat(join(path, key))).mode & 0o777).toBe(0o600)
  })

  it('reads its stream no faster than the disk takes it', async () => {
    const { store, draftFolder } = await makeStore()
    const chunk = Buffer.alloc(64 * 1024)
    const total = 1_000
    let produced = 0
    let ahead = 0
    const source = new Readable({
      read() {
        const [draft] = readdirSync(draftFolder)
        const written = draft ? statSync(join(draftFolder, draft)).size : 0
        ahead = Math.max(ahead, produced * chunk.length - written)
        this.push(produced++ < total ? chunk : null)
      },
    })
    expect(await store.put(key, source)).toMatchObject({ size: total * chunk.length })
    expect(ahead).toBeLessThan(2 * 1024 * 1024)
  })

  it('without space fails as such, keeps the old content and no part of the new', async () => {
    const { store, draftFolder } = await makeStore()
    await store.put(key, Readable.from([Buffer.from('old')]))
    await failNext('writev', 'ENOSPC')
    const attempt = store.put(key, Readable.from([Buffer.from('new')]))
    await expect(attempt).rejects.toThrow(BlobStoreFullError)
    await expect(attempt).rejects.toMatchObject({ cause: { code: 'ENOSPC' } })
    expect((await buffer(await store.get(key))).toString()).toBe('old')
    expect(await readdir(draftFolder)).toEqual([])
  })

  it('that cannot be made durable has not happened', async () => {
    const { store } = await makeStore()
    await failNext('sync', 'EIO')
    const attempt = store.put(key, Readable.from([Buffer.from('new')]))
    await expect(attempt).rejects.toMatchObject({ code: 'EIO' })
    expect(await store.head(key)).toBeUndefined()
  })

  it('survives writes that the system cuts short', async () => {
    const { store } = await makeStore()
    const proto = await fileHandlePrototype()
    const whole = proto.writev
    vi.spyOn(proto, 'writev').mockImplementation(function (this: typeof proto, chunks) {
      const [first = Buffer.alloc(0)] = chunks
      return whole.call(this, [
        Buffer.from(first.buffer, first.byteOffset, Math.min(7, first.byteLength)),
      ])
    })
    const parts = ['one part, ', '', 'another part, ', 'x'].map((text) => Buffer.from(text))
    await store.put(key, Readable.from(parts))
    expect((await buffer(await store.get(key))).toString()).toBe('one part, another part, x')
  })
})

describe('an interrupted put', () => {
  it('leaves a draft only, which the sweep of the next start removes', async () => {
    const { store, folder, draftFolder } = await makeStore()
    await store.put(key, Readable.from([Buffer.from('old')]))
    await dieWhilePutting(folder)
    expect(await readdir(draftFolder)).toHaveLength(1)

    const next = await openDiskBlobStore(folder)
    expect((await buffer(await next.get(key))).toString()).toBe('old')
    expect(await next.sweepTemporary(0)).toBe(1)
    expect(await readdir(draftFolder)).toEqual([])
    expect((await buffer(await next.get(key))).toString()).toBe('old')
  })

  it('of another process is left alone while it may still go on', async () => {
    const { store, draftFolder } = await makeStore()
    const [fresh, old] = [join(draftFolder, 'fresh'), join(draftFolder, 'old')]
    await writeFile(fresh, 'x')
    await writeFile(old, 'x')
    const hourAgo = Date.now() / 1000 - 3_600
    await utimes(old, hourAgo, hourAgo)
    expect(await store.sweepTemporary(60_000)).toBe(1)
    expect(await readdir(draftFolder)).toEqual(['fresh'])
  })

  it('fails when its draft was taken for a leftover', async () => {
    const { store, folder } = await makeStore()
    const slow = stalled(Buffer.alloc(1024 * 1024))
    const failed = expect(store.put(key, slow)).rejects.toMatchObject({ code: 'ENOENT' })
    const other = await openDiskBlobStore(folder)
    await vi.waitUntil(async () => (await other.sweepTemporary(0)) === 1)
    slow.push(null)
    await failed
    expect(await store.head(key)).toBeUndefined()
  })
})

describe('the list', () => {
  it('passes over files that are no blobs', async () => {
    const { store, folder } = await makeStore()
    await store.put(key, Readable.from([Buffer.from('content')]))
    const [shard] = (await readdir(folder)).filter((name) => name !== 'tmp')
    await writeFile(join(folder, String(shard), '.DS_Store'), '')
    await writeFile(join(folder, 'README'), '')
    const keys: string[] = []
    for await (const blob of store.list()) keys.push(blob.key)
    expect(keys).toEqual([key])
  })
})

async function fileHandlePrototype() {
  const handle = await open(root, 'r')
  await handle.close()
  return Object.getPrototypeOf(handle) as typeof handle
}

/** Lets the next call of the system fail, as a full or broken disk would. */
async function failNext(call: 'writev' | 'sync', code: string) {
  const failure = Object.assign(new Error(`${code}: ${call}`), { code })
  vi.spyOn(await fileHandlePrototype(), call).mockRejectedValueOnce(failure)
}

/** Starts a put in another process and kills that once a part of the content is on disk. */
async function dieWhilePutting(folder: string): Promise<void> {
  const child = spawn(process.execPath, [programPath('put-content'), folder, key], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const drafts = join(folder, 'tmp')
  await vi.waitUntil(() =>
    readdirSync(drafts).some((name) => statSync(join(drafts, name)).size > 0),
  )
  child.kill('SIGKILL')
  await ended
}
