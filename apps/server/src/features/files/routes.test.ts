import { Client as ExistingClient } from '@botpress/client'
import { describe, expect, it, vi } from 'vitest'
import { describeEachEngine } from '../../../test/engines.js'
import { useServer } from '../../../test/harness.js'

describeEachEngine('files of a running server', (engine) => {
  const server = useServer(engine)

  async function newBot() {
    const { bot } = await server().client().createBot()
    const client = new ExistingClient({
      apiUrl: server().url,
      token: server().token,
      workspaceId: server().workspaceId,
      botId: bot.id,
    })
    return { botId: bot.id, client }
  }

  const waitFor = <T>(check: () => Promise<T>) => vi.waitFor(check, { interval: 10 })

  it('accepts the longest allowed keys and tags', async () => {
    const { botId } = await newBot()
    // No two characters are equal: databases compress repetitions.
    const text = (characters: number) =>
      Array.from({ length: characters }, (_, at) => String.fromCodePoint(0x20000 + at * 37)).join(
        '',
      )
    const response = await server().fetch('/v1/files', {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${server().token}`,
        'x-bot-id': botId,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ key: text(512), size: 1, tags: { [text(200)]: text(312) } }),
    })
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { file: { key: text(512), tags: { [text(200)]: text(312) } } },
    ])
  })

  describe('an existing client', () => {
    it('uploads a file, waits for it, finds it and deletes it', async () => {
      const { botId, client } = await newBot()
      const { file } = await client.uploadFile({
        key: 'manuals/pump 1.md',
        content: '# Pump\n\nTurn the red valve to the left.',
        index: true,
        tags: { kbId: 'kb_1', source: 'knowledge-base' },
      })
      expect(file).toMatchObject({ botId, status: 'upload_pending', size: 39 })
      await waitFor(async () => {
        const read = await client.getFile({ id: file.id })
        expect(read.file).toMatchObject({ status: 'indexing_completed', size: 39 })
      })
      const { passages } = await client.searchFiles({
        query: 'which valve?',
        tags: { kbId: ['kb_1', 'kb_2'], source: { not: 'website' } },
        withContext: true,
      })
      expect(passages[0]).toMatchObject({
        content: '# Pump\n\nTurn the red valve to the left.',
        file: { id: file.id, key: 'manuals/pump 1.md' },
      })
      const { files } = await client.listFiles({ tags: { kbId: 'kb_1' } })
      expect(files.map(({ id }) => id)).toEqual([file.id])

      await client.deleteFile({ id: 'manuals/pump 1.md' })
      await expect(client.getFile({ id: file.id })).rejects.toMatchObject({
        type: 'ResourceNotFound',
      })
      expect((await client.searchFiles({ query: 'valve' })).passages).toEqual([])
    })

    it('uploads a file that is public at once', async () => {
      const { client } = await newBot()
      const { file } = await client.uploadFile({
        key: 'logo.svg',
        content: Buffer.from('<svg/>'),
        accessPolicies: ['public_content'],
        publicContentImmediatelyAccessible: true,
      })
      const response = await fetch(file.url, { headers: { origin: 'https://example.com' } })
      expect(await response.text()).toBe('<svg/>')
      expect(response.headers.get('content-disposition')).toMatch(/^attachment;/)
      expect(response.headers.get('access-control-allow-origin')).toBe('https://example.com')
    })

    it('uploads an empty content', async () => {
      const { client } = await newBot()
      const { file } = await client.uploadFile({ key: 'empty', content: Buffer.alloc(0) })
      const read = await client.getFile({ id: file.id })
      expect(read.file).toMatchObject({ status: 'upload_completed', size: 0 })
    })
  })

  describe('a browser', () => {
    it('may upload a content from any page', async () => {
      const { client } = await newBot()
      const { file } = await client.upsertFile({ key: 'a', size: 1 })
      const preflight = await fetch(file.uploadUrl, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://example.com',
          'access-control-request-method': 'PUT',
          'access-control-request-headers': 'content-type,x-amz-tagging',
        },
      })
      expect(preflight.ok).toBe(true)
      expect(preflight.headers.get('access-control-allow-methods')).toContain('PUT')
      expect(preflight.headers.get('access-control-allow-headers')).toContain('x-amz-tagging')
    })
  })

  describe('a deleted bot', () => {
    it('loses its files at once', async () => {
      const { botId, client } = await newBot()
      const { file } = await client.uploadFile({
        key: 'a.txt',
        content: 'x',
        accessPolicies: ['public_content'],
      })
      expect((await fetch(file.url)).status).toBe(200)
      await server().client().deleteBot({ id: botId })
      expect((await fetch(file.url)).status).toBe(404)
    })
  })
})
