import { ApiError } from '@botstead/contract'
import { describe, expect, it } from 'vitest'
import { describeEachEngine } from '../../../test/engines.js'
import { integration, limits, quotas, useFiles } from '../../../test/files.js'

describeEachEngine('files', (engine) => {
  const bench = useFiles(engine)

  describe('an upsert', () => {
    it('describes a file whose content follows', async () => {
      const bot = bench().newBot()
      const { file } = await bot.as().upsertFile({
        key: 'docs/a b.md',
        size: 5,
        tags: { lang: 'en' },
        metadata: { deep: { list: [1, null, 'x'] } },
        accessPolicies: ['integrations', 'public_content'],
        index: true,
        expiresAt: new Date(bench().clock.now() + 3_600_000).toISOString(),
      })
      expect(file).toEqual({
        id: expect.stringMatching(/^file_[0-9A-Z]{26}$/),
        botId: bot.id,
        key: 'docs/a b.md',
        url: `${bench().url}/content/${file.id}`,
        size: 5,
        contentType: 'text/markdown',
        tags: { lang: 'en' },
        metadata: { deep: { list: [1, null, 'x'] } },
        accessPolicies: ['public_content', 'integrations'],
        index: true,
        status: 'upload_pending',
        owner: { type: 'bot', id: bot.id },
        expiresAt: expect.stringMatching(/:00\.000Z$/),
        createdAt: expect.any(String),
        updatedAt: file.createdAt,
        uploadUrl: expect.stringContaining(`${bench().url}/uploads/`),
      })
      const read = await bot.as().getFile({ id: file.id })
      expect(read.file).not.toHaveProperty('uploadUrl')
      expect((await bot.as().getFile({ id: 'docs/a b.md' })).file.id).toBe(file.id)
    })

    it('replaces the description of the file, and keeps its identity', async () => {
      const bot = bench().newBot()
      const first = await bot.as().upsertFile({ key: 'a.txt', size: 1, tags: { a: '1', b: '2' } })
      const second = await bot.as().upsertFile({ key: 'a.txt', size: 2, tags: { b: '3' } })
      expect(second.file).toMatchObject({
        id: first.file.id,
        createdAt: first.file.createdAt,
        tags: { b: '3' },
        metadata: {},
      })
      expect((await bot.as().listFiles({ tags: { a: '1' } })).files).toEqual([])
      expect((await bot.as().listFiles({ tags: { b: '3' } })).files).toHaveLength(1)
    })

    it('creates one file when several run concurrently for one key', async () => {
      const bot = bench().newBot()
      const made = await Promise.all(
        Array.from({ length: 8 }, () => bot.as().upsertFile({ key: 'same.txt', size: 1 })),
      )
      expect(new Set(made.map(({ file }) => file.id)).size).toBe(1)
    })

    it('names the owner of the file', async () => {
      const bot = bench().newBot()
      const user = { type: 'user', id: 'user_1', role: undefined } as const
      const ofUser = await bot.as(user).upsertFile({ key: 'u', size: 0 })
      const ofIntegration = await bot.as(integration('i1')).upsertFile({ key: 'i', size: 0 })
      expect(ofUser.file.owner).toEqual({ type: 'user', id: 'user_1' })
      expect(ofIntegration.file.owner).toEqual({
        type: 'integration',
        name: 'name of i1',
        alias: 'alias of i1',
      })
    })

    it('refuses what is too large', async () => {
      const bot = bench().newBot().as()
      await expect(bot.upsertFile({ key: 'a', size: limits.fileBytes + 1 })).rejects.toMatchObject({
        type: 'LimitExceeded',
      })
      await expect(
        bot.upsertFile({ key: 'a', size: limits.indexedFileBytes + 1, index: true }),
      ).rejects.toMatchObject({ type: 'LimitExceeded' })
    })
  })

  describe('keys', () => {
    it('are unique in the bot and in each integration', async () => {
      const bot = bench().newBot()
      const callers = [undefined, integration('i1'), integration('i2')]
      const ids = []
      for (const caller of callers) {
        ids.push((await bot.as(caller).upsertFile({ key: 'k', size: 0 })).file.id)
      }
      expect(new Set(ids).size).toBe(3)
      for (const [index, caller] of callers.entries()) {
        expect((await bot.as(caller).getFile({ id: 'k' })).file.id).toBe(ids[index])
      }
    })

    it('that equal the id of another file are found after it', async () => {
      const bot = bench().newBot().as()
      const first = await bot.upsertFile({ key: 'a', size: 0 })
      await bot.upsertFile({ key: first.file.id, size: 0 })
      expect((await bot.getFile({ id: first.file.id })).file.key).toBe('a')
    })
  })

  describe('an integration', () => {
    it('sees its own files and those that are shared, and deletes only its own', async () => {
      const bot = bench().newBot()
      const secret = await bot.as().upsertFile({ key: 'secret', size: 0 })
      const shared = await bot
        .as()
        .upsertFile({ key: 'shared', size: 0, accessPolicies: ['integrations'] })
      const own = await bot.as(integration('i1')).upsertFile({ key: 'own', size: 0 })
      const other = await bot.as(integration('i2')).upsertFile({ key: 'other', size: 0 })

      const client = bot.as(integration('i1'))
      const keys = (await client.listFiles({ sortField: 'key', sortDirection: 'asc' })).files
      expect(keys.map(({ key }) => key)).toEqual(['own', 'shared'])
      for (const { file } of [secret, other]) {
        await expect(client.getFile({ id: file.id })).rejects.toMatchObject(notFound)
        await expect(client.getFile({ id: file.key })).rejects.toMatchObject(notFound)
        await expect(client.deleteFile({ id: file.id })).rejects.toMatchObject(notFound)
      }
      await expect(client.deleteFile({ id: shared.file.id })).rejects.toMatchObject({
        type: 'Forbidden',
      })
      await client.deleteFile({ id: own.file.id })
      expect((await bot.as().listFiles()).files).toHaveLength(3)
    })
  })

  describe('another bot', () => {
    it('sees nothing', async () => {
      const { file } = await bench().newBot().as().upsertFile({ key: 'a', size: 0 })
      const other = bench().newBot().as()
      await expect(other.getFile({ id: file.id })).rejects.toMatchObject(notFound)
      await expect(other.getFile({ id: 'a' })).rejects.toMatchObject(notFound)
      await expect(other.deleteFile({ id: file.id })).rejects.toMatchObject(notFound)
      expect((await other.listFiles({ ids: [file.id] })).files).toEqual([])
    })
  })

  describe('names that no database can store', () => {
    it('are refused instead of failing', async () => {
      const bot = bench().newBot().as()
      const payload = { type: 'InvalidPayload' }
      await expect(bot.upsertFile({ key: 'a\0', size: 0 })).rejects.toMatchObject(payload)
      await expect(
        bot.upsertFile({ key: 'a', size: 0, tags: { 'a\0': 'b' } }),
      ).rejects.toMatchObject(payload)
      await expect(bot.getFile({ id: 'a\0' })).rejects.toMatchObject(payload)
      const filters: Parameters<typeof bot.listFiles>[0][] = [
        { ids: ['a\0'] },
        { tags: { 'a\0': 'b' } },
        { tags: { a: { not: 'b\0' } } },
      ]
      for (const filter of filters) {
        await expect(bot.listFiles(filter)).rejects.toMatchObject({ type: 'InvalidQuery' })
      }
    })
  })

  describe('a deleted file', () => {
    it('is hidden at once, and its key is free', async () => {
      const bot = bench().newBot()
      const file = await bot.upload({ key: 'a.txt' }, 'hello')
      await bot.as().deleteFile({ id: 'a.txt' })
      await expect(bot.as().getFile({ id: file.id })).rejects.toMatchObject(notFound)
      await expect(bot.as().deleteFile({ id: file.id })).rejects.toMatchObject(notFound)
      expect((await fetch(file.url)).status).toBe(404)
      const { file: next } = await bot.as().upsertFile({ key: 'a.txt', size: 1 })
      expect(next.id).not.toBe(file.id)
    })
  })

  describe('quotas', () => {
    it('count what is stored and what is indexed, and report the rest', async () => {
      const bot = bench().newBot().as()
      const half = limits.fileBytes
      await bot.upsertFile({ key: '1', size: half })
      await bot.upsertFile({ key: '2', size: half })
      const refused = await bot.upsertFile({ key: '3', size: 1 }).catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(ApiError)
      expect(refused).toMatchObject({
        type: 'QuotaExceeded',
        message: expect.stringMatching(/storage quota: 20000000 of 20000000 bytes used, 1 more/),
        metadata: { quota: 'storage', used: quotas.storage, asked: 1, allowed: quotas.storage },
      })
      expect((await bot.listFiles()).files).toHaveLength(2)
      await bot.deleteFile({ id: '1' })
      await bot.upsertFile({ key: '3', size: half })

      const indexing = bench().newBot().as()
      for (let each = 0; each < 5; each++) {
        await indexing.upsertFile({ key: `${each}`, size: limits.indexedFileBytes, index: true })
      }
      await expect(indexing.upsertFile({ key: 'x', size: 1, index: true })).rejects.toMatchObject({
        type: 'QuotaExceeded',
        metadata: { quota: 'vector' },
      })
      await indexing.upsertFile({ key: 'x', size: 1 })
    })

    it('count a replacement by what it adds, also a smaller one', async () => {
      const bot = bench().newBot()
      await bot.upload({ key: 'big' }, new Uint8Array(quotas.storage / 2))
      await bot.as().upsertFile({ key: 'other', size: quotas.storage / 2 })
      await bot.as().upsertFile({ key: 'big', size: quotas.storage / 2 })
      await bot.as().upsertFile({ key: 'big', size: 1 })
      await expect(bot.as().upsertFile({ key: 'more', size: 1 })).rejects.toMatchObject({
        type: 'QuotaExceeded',
      })
      await bot.upload({ key: 'big' }, 'x')
      await bot.as().upsertFile({ key: 'more', size: 1 })
    })

    it('are not exceeded by concurrent uploads', async () => {
      const bot = bench().newBot().as()
      const size = quotas.storage / 4
      const made = await Promise.allSettled(
        Array.from({ length: 10 }, (_, each) => bot.upsertFile({ key: `${each}`, size })),
      )
      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
    })
  })
})

const notFound = { type: 'ResourceNotFound' }
