import { once } from 'node:events'
import { createServer } from 'node:http'
import { type Client, ResourceNotFoundError } from '@botpress/client'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'

type ExistingClient = InstanceType<typeof Client>
/** Simplified by the client's types so that not every blob fits. */
type Content = Parameters<ExistingClient['uploadFile']>[0]['content']

const text = 'Grüße aus dem Pumpenhaus 👋'
const bytes = Buffer.from(text)

describe('files by the existing client', () => {
  const server = useServer()
  let client: ExistingClient
  beforeAll(async () => {
    client = (await makeBot(server())).client
  })

  const contentOf = async (id: string) => {
    const { file } = await client.getFile({ id })
    const response = await fetch(file.url)
    return Buffer.from(await response.arrayBuffer())
  }

  it.each([
    ['a string', text, bytes],
    ['a buffer', bytes, bytes],
    ['an array of bytes', new Uint8Array(bytes), bytes],
    ['an array buffer', new Uint8Array(bytes).buffer, bytes],
    ['a blob', new Blob([bytes], { type: 'text/plain' }), bytes],
    ['a blob without a type', new Blob([bytes]), bytes],
    ['an empty buffer', Buffer.alloc(0), Buffer.alloc(0)],
    ['many bytes', Buffer.alloc(3_000_000, 'pump'), Buffer.alloc(3_000_000, 'pump')],
  ])('uploads %s', async (name, content, expected) => {
    const key = `uploads/${name}.txt`
    const { file } = await client.uploadFile({ key, content: content as Content })
    expect(file).toMatchObject({ key, size: expected.length, status: 'upload_pending' })
    const { file: stored } = await client.getFile({ id: file.id })
    expect(stored).toMatchObject({
      size: expected.length,
      status: 'upload_completed',
      contentType: 'text/plain',
      owner: { type: 'bot', id: stored.botId },
    })
    expect((await contentOf(file.id)).equals(expected)).toBe(true)
  })

  it('uploads the content of an address', async () => {
    const source = createServer((_, response) => response.end(bytes)).listen(0, '127.0.0.1')
    await once(source, 'listening')
    const address = source.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const { file } = await client.uploadFile({ key: 'fetched', url: `http://127.0.0.1:${port}/a` })
    source.close()
    expect((await contentOf(file.id)).equals(bytes)).toBe(true)
  })

  it('uploads a content that is public at once', async () => {
    const { file } = await client.uploadFile({
      key: 'public.txt',
      content: text,
      accessPolicies: ['public_content'],
      publicContentImmediatelyAccessible: true,
    })
    expect(await (await fetch(file.url)).text()).toBe(text)
    const { file: stored } = await client.getFile({ id: file.id })
    expect(stored.url).toBe(file.url)
    expect(stored.accessPolicies).toEqual(['public_content'])
  })

  it('replaces a content under the same key', async () => {
    const first = await client.uploadFile({ key: 'changing.txt', content: 'first' })
    const second = await client.uploadFile({ key: 'changing.txt', content: 'second' })
    expect(second.file.id).toBe(first.file.id)
    expect(String(await contentOf(first.file.id))).toBe('second')
  })

  it('filters by tags in every supported notation', async () => {
    const { client } = await makeBot(server())
    const tagged = { red: { color: 'red', size: 'l' }, blue: { color: 'blue' }, plain: {} }
    for (const [key, tags] of Object.entries(tagged)) {
      await client.uploadFile({ key, content: key, tags })
    }
    const keys = async (tags: Record<string, unknown>) => {
      const { files } = await client.listFiles({ tags, sortField: 'key' })
      return files.map(({ key }) => key).sort()
    }
    expect(await keys({ color: 'red' })).toEqual(['red'])
    expect(await keys({ color: ['red', 'blue'] })).toEqual(['blue', 'red'])
    expect(await keys({ color: { in: ['red'] } })).toEqual(['red'])
    expect(await keys({ color: { not: 'red' } })).toContain('blue')
    expect(await keys({ color: { not: 'red' } })).not.toContain('red')
    expect(await keys({ color: { exists: true } })).toEqual(['blue', 'red'])
    expect(await keys({ color: { exists: false } })).toEqual(['plain'])
    expect(await keys({ color: 'red', size: 'l' })).toEqual(['red'])
    expect(await keys({ color: 'blue', size: 'l' })).toEqual([])
  })

  it('reads all pages, sorts and selects by id', async () => {
    const { client } = await makeBot(server())
    const keys = Array.from({ length: 23 }, (_, i) => `k${String(i).padStart(2, '0')}`)
    for (const key of keys) await client.upsertFile({ key, size: 1 })
    const all = await client.list.files({ sortField: 'key', sortDirection: 'asc' }).collect()
    expect(all.map(({ key }) => key)).toEqual(keys)
    const ids = all.slice(3, 5).map(({ id }) => id)
    const { files } = await client.listFiles({ ids, sortField: 'key', sortDirection: 'desc' })
    expect(files.map(({ key }) => key)).toEqual(['k04', 'k03'])
  })

  it('indexes a file and finds its passages', async () => {
    const { client } = await makeBot(server())
    const content =
      '# Pumps\n\n## Seals\n\nA worn seal makes a pump leak.\n\n## Motors\n\nA motor hums at 50 Hz.\n'
    const { file } = await client.uploadFile({
      key: 'manuals/pump.md',
      content,
      index: true,
      tags: { kb: 'pumps' },
      metadata: { edition: 3 },
      indexing: { configuration: { chunking: { maximumChunkLength: 200 } } },
    })
    await vi.waitFor(async () => {
      const { status } = (await client.getFile({ id: file.id })).file
      expect(status).toBe('indexing_completed')
    })
    const { passages } = await client.searchFiles({
      query: 'Why does the pump leak?',
      tags: { kb: 'pumps' },
      limit: 5,
      contextDepth: 1,
      withContext: true,
      includeBreadcrumb: true,
    })
    expect(passages[0]?.content).toContain('worn seal')
    expect(passages[0]?.file).toMatchObject({
      id: file.id,
      key: 'manuals/pump.md',
      contentType: 'text/markdown',
      tags: { kb: 'pumps' },
      metadata: expect.objectContaining({ edition: 3 }),
    })
    expect(passages[0]?.context?.map(({ type }) => type)).toContain('current')
    const merged = await client.searchFiles({ query: 'pump motor', consolidate: true })
    expect(merged.passages).toMatchObject([{ meta: { type: 'consolidated' } }])
    const elsewhere = await client.searchFiles({ query: 'pump', tags: { kb: 'boats' } })
    expect(elsewhere.passages).toEqual([])
  })

  it('deletes a file with its content', async () => {
    const { file } = await client.uploadFile({ key: 'short-lived', content: text })
    const { file: stored } = await client.getFile({ id: file.id })
    expect(await client.deleteFile({ id: file.id })).toEqual({})
    await expect(client.getFile({ id: file.id })).rejects.toBeInstanceOf(ResourceNotFoundError)
    expect((await fetch(stored.url)).status).toBe(404)
  })
})
