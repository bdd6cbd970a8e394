import type { Client } from '@botpress/client'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { describeSlow } from '../engines.js'
import { makeBot } from '../existing-clients.js'
import { useServer } from '../harness.js'

type ExistingClient = InstanceType<typeof Client>

const minute = 60_000

describeSlow('the operations on files by the existing client', (engine) => {
  const server = useServer(engine)
  let bot: Awaited<ReturnType<typeof makeBot>>
  let client: ExistingClient
  beforeAll(async () => {
    bot = await makeBot(server())
    client = bot.client
  })

  const contentOf = async (id: string) => {
    const { file } = await client.getFile({ id })
    return await (await fetch(file.url)).text()
  }
  const indexed = (id: string, by = client) =>
    vi.waitFor(
      async () => {
        const { file } = await by.getFile({ id })
        expect(file.status).toBe('indexing_completed')
        return file
      },
      { interval: 10 },
    )

  it('changes the description of a file, and nothing else', async () => {
    const { file } = await client.uploadFile({
      key: 'changes/a.txt',
      content: 'as it was',
      tags: { lang: 'en', kind: 'note' },
      metadata: { author: 'Ada', edition: 1, deep: { list: [1] } },
    })
    const before = (await client.getFile({ id: file.id })).file
    const expiresAt = new Date(Date.now() + 90 * minute).toISOString()
    const { file: changed } = await client.updateFileMetadata({
      id: file.id,
      tags: { lang: 'de', kind: null },
      metadata: { edition: null, deep: { other: true }, more: null },
      accessPolicies: ['public_content'],
      expiresAt,
    })
    expect(changed).toEqual({
      ...before,
      tags: { lang: 'de' },
      metadata: { author: 'Ada', deep: { other: true } },
      accessPolicies: ['public_content'],
      expiresAt: `${expiresAt.slice(0, 16)}:00.000Z`,
      url: `${server().url}/content/${file.id}`,
      updatedAt: expect.any(String),
    })
    expect(await (await fetch(changed.url)).text()).toBe('as it was')
    const { file: kept } = await client.updateFileMetadata({
      id: file.id,
      expiresAt: null,
      accessPolicies: [],
    })
    expect(kept).not.toHaveProperty('expiresAt')
    expect(kept).toMatchObject({ tags: { lang: 'de' }, accessPolicies: [] })
    expect((await fetch(changed.url)).status).toBe(404)
    const found = await client.listFiles({ tags: { lang: 'de', kind: { exists: false } } })
    expect(found.files.map(({ id }) => id)).toEqual([file.id])
  })

  it('copies by id and by key, and refuses an existing key', async () => {
    const { file } = await client.uploadFile({ key: 'copies/a b.txt', content: 'once' })
    const { file: copy } = await client.copyFile({
      idOrKey: 'copies/a b.txt',
      destinationKey: 'copies/c%d.txt',
    })
    expect(copy).toMatchObject({ key: 'copies/c%d.txt', size: 4, status: 'upload_completed' })
    expect(copy.id).not.toBe(file.id)
    expect(copy).not.toHaveProperty('uploadUrl')
    const again = { idOrKey: file.id, destinationKey: 'copies/c%d.txt' }
    await expect(client.copyFile(again)).rejects.toMatchObject({ type: 'AlreadyExists' })
    const { file: replaced } = await client.copyFile({ ...again, overwrite: true })
    expect(replaced.id).toBe(copy.id)
    await client.deleteFile({ id: file.id })
    expect(await contentOf(copy.id)).toBe('once')
  })

  it('copies passages, so that the copy is found without being indexed again', async () => {
    const { file } = await client.uploadFile({
      key: 'copies/indexed.md',
      content: '# Gauge\n\nRead the barometer at noon.',
      index: true,
      tags: { kbId: 'kb_source' },
    })
    await indexed(file.id)
    const { file: copy } = await client.copyFile({
      idOrKey: file.id,
      destinationKey: 'copies/indexed-too.md',
    })
    await client.updateFileMetadata({ id: copy.id, tags: { kbId: 'kb_copy' } })
    await indexed(copy.id)
    const { passages } = await client.searchFiles({
      query: 'barometer',
      tags: { kbId: 'kb_copy' },
    })
    expect(passages).toMatchObject([{ file: { id: copy.id, key: 'copies/indexed-too.md' } }])
  })

  it('copies into another bot, with a token that may write there', async () => {
    const other = await makeBot(server())
    const { file } = await client.uploadFile({ key: 'copies/far.txt', content: 'far' })
    const into = { idOrKey: file.id, destinationKey: 'far.txt' }
    const { file: copy } = await client.copyFile({ ...into, 'x-destination-bot-id': other.bot.id })
    expect(copy).toMatchObject({
      botId: other.bot.id,
      owner: { type: 'bot', id: other.bot.id },
    })
    expect((await other.client.getFile({ id: 'far.txt' })).file.id).toBe(copy.id)
    await client.deleteFile({ id: file.id })
    const { file: left } = await other.client.getFile({ id: copy.id })
    expect(await (await fetch(left.url)).text()).toBe('far')

    const { value } = await server().client().createBotApiKey({ botId: bot.bot.id })
    const keyed = server().client({ token: value, botId: bot.bot.id })
    const { file: own } = await client.uploadFile({ key: 'copies/own.txt', content: 'own' })
    for (const id of [other.bot.id, 'nowhere']) {
      const headers = { 'x-destination-bot-id': id }
      const call = keyed.copyFile({ idOrKey: own.id, destinationKey: 'x' }, { headers })
      await expect(call).rejects.toMatchObject({ type: 'Forbidden' })
    }
  })

  it('lists tags and their values, page by page', async () => {
    const { client: fresh } = await makeBot(server())
    const tagsByKey: Record<string, Record<string, string>> = {
      a: { lang: 'en', 'with/slash': '1' },
      b: { lang: 'de', empty: '' },
      c: { lang: 'en' },
    }
    for (const [key, tags] of Object.entries(tagsByKey)) {
      await fresh.upsertFile({ key, size: 0, tags })
    }
    const names = await fresh.list.fileTags({}).collect()
    expect(names).toEqual(['empty', 'lang', 'with/slash'])
    const first = await fresh.listFileTags({ nextToken: undefined })
    expect(first.meta.nextToken).toBeUndefined()
    expect((await fresh.listFileTagValues({ tag: 'lang' })).values).toEqual(['de', 'en'])
    expect((await fresh.listFileTagValues({ tag: 'with/slash' })).values).toEqual(['1'])
    expect((await fresh.listFileTagValues({ tag: 'none' })).values).toEqual([])
  })

  it('keeps knowledge bases', async () => {
    const { knowledgeBase } = await client.createKnowledgeBase({
      name: 'Manuals',
      tags: { lang: 'en', team: 'office' },
    })
    expect(knowledgeBase).toMatchObject({ name: 'Manuals', tags: { lang: 'en', team: 'office' } })
    expect(knowledgeBase.id).toMatch(/^kb_[0-9A-Z]{26}$/)
    await client.createKnowledgeBase({ name: 'Notes' })
    const updated = await client.updateKnowledgeBase({
      id: knowledgeBase.id,
      name: 'Handbooks',
      tags: { team: null, lang: 'de' },
    })
    expect(updated.knowledgeBase).toMatchObject({ name: 'Handbooks', tags: { lang: 'de' } })
    const namesOf = async (tags: Parameters<typeof client.listKnowledgeBases>[0]['tags']) =>
      (await client.listKnowledgeBases({ tags })).knowledgeBases.map(({ name }) => name)
    expect(await namesOf(undefined)).toEqual(['Notes', 'Handbooks'])
    expect(await namesOf({ lang: ['de', 'fr'] })).toEqual(['Handbooks'])
    expect(await namesOf({ lang: { not: 'de' } })).toEqual(['Notes'])
    expect(await namesOf({ lang: { exists: false } })).toEqual(['Notes'])

    const { file } = await client.uploadFile({
      key: 'kb/a.txt',
      content: 'stays',
      tags: { kbId: knowledgeBase.id },
    })
    await client.deleteKnowledgeBase({ id: knowledgeBase.id })
    expect(await namesOf({})).toEqual(['Notes'])
    expect(await contentOf(file.id)).toBe('stays')
    await expect(client.deleteKnowledgeBase({ id: knowledgeBase.id })).rejects.toMatchObject({
      type: 'ResourceNotFound',
    })
  })

  it('lists the events of files', async () => {
    const {
      bot: { id: botId },
      client: fresh,
    } = await makeBot(server())
    const { file } = await fresh.uploadFile({ key: 'told.txt', content: 'x' })
    await fresh.updateFileMetadata({ id: file.id, tags: { a: 'b' } })
    await fresh.deleteFile({ id: file.id })
    const reader = server().client({ botId })
    const { events } = await reader.listFileEvents()
    expect(events.map(({ sequence, type }) => [sequence, type])).toEqual([
      [1, 'file_created'],
      [2, 'file_upload_completed'],
      [3, 'file_updated'],
      [4, 'file_deleted'],
    ])
    expect(events[0]).toMatchObject({ fileId: file.id, key: 'told.txt', generation: 1 })
    const page = await reader.listFileEvents({ after: 1, pageSize: 2 })
    expect(page.events.map(({ sequence }) => sequence)).toEqual([2, 3])
    const { nextToken } = page.meta
    const rest = await reader.listFileEvents({ after: 1, pageSize: 2, nextToken })
    expect(rest).toMatchObject({ events: [{ sequence: 4 }], meta: {} })
  })

  describe('a key that is a reserved word', () => {
    it('is addressed by the id of its file', async () => {
      const {
        bot: { id: botId },
        client: fresh,
      } = await makeBot(server())
      const headers = { authorization: `Bearer ${server().token}`, 'x-bot-id': botId }
      for (const key of ['tags', 'search', 'knowledge-bases', 'events']) {
        const { file } = await fresh.uploadFile({ key, content: key })
        for (const [method, path] of [
          ['DELETE', `/v1/files/${key}`],
          ['POST', `/v1/files/${key}/elsewhere`],
        ]) {
          const response = await server().fetch(path ?? '', {
            method,
            headers: { ...headers, 'content-type': 'application/json' },
            body: '{}',
          })
          expect([method, key, response.status]).toEqual([method, key, 404])
        }
        expect((await fresh.getFile({ id: file.id })).file.key).toBe(key)
      }
    })
  })
})
