import { beforeEach, describe, expect, it, vi } from 'vitest'
import { describeSlow } from '../../../test/engines.js'
import { integration, type TestBot, useFiles } from '../../../test/files.js'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const small = {
  configuration: { parsing: { minimumParagraphLength: 0 }, chunking: { maximumChunkLength: 64 } },
}
const manual = '# Pump\n\nIt moves water.\n\n## Start\n\nTurn the red valve.\n\n## Stop\n\nPush it.'

describeSlow('the passages of a file', (engine) => {
  const bench = useFiles(engine)
  let bot: TestBot

  beforeEach(() => {
    bot = bench().newBot()
  })

  const upload = (key = 'pump.md') =>
    bot.uploadAndWait({ key, index: true, indexing: small }, manual)

  async function contents(id: string): Promise<string[]> {
    const { passages } = await bot.as().listFilePassages({ id })
    return passages.map(({ content }) => content)
  }

  const found = async (query: string) =>
    (await bot.as().searchFiles({ query, contextDepth: 0 })).passages.map(({ content }) => content)

  const blobKeys = async () => {
    const keys = new Set<string>()
    for await (const { key } of bench().blobs.list()) keys.add(key)
    return keys
  }

  it('are found by a power in either notation, and not by the number that its digits would make', async () => {
    const powers = 'The lamp makes 10⁶ turns.\n\nThe pump makes 10<sup>6</sup> turns.'
    await bot.uploadAndWait({ key: 'powers.md', index: true, indexing: small }, powers)
    const both = ['The lamp makes 10⁶ turns.', 'The pump makes 10^6 turns.']
    expect((await found('10⁶')).sort()).toEqual(both)
    expect((await found('10^6')).sort()).toEqual(both)
    expect(await found('106')).toEqual([])
  })

  describe('are listed', () => {
    it('in reading order, with what they are', async () => {
      const { id } = await upload()
      const { passages, meta } = await bot.as().listFilePassages({ id: 'pump.md' })
      expect(passages).toEqual([
        {
          id: expect.stringMatching(uuid),
          content: '# Pump\n\nIt moves water.',
          meta: { type: 'chunk', subtype: 'title', position: 0 },
        },
        {
          id: expect.stringMatching(uuid),
          content: '## Start\n\nTurn the red valve.',
          meta: { type: 'chunk', subtype: 'subtitle', position: 1 },
        },
        {
          id: expect.stringMatching(uuid),
          content: '## Stop\n\nPush it.',
          meta: { type: 'chunk', subtype: 'subtitle', position: 2 },
        },
      ])
      expect(meta).toEqual({})
      expect(await contents(id)).toHaveLength(3)
    })

    it.each([
      { pageSize: 2 },
      { limit: 2 },
      { pageSize: 50, limit: 2 },
      { pageSize: 2, limit: 50 },
    ])('page by page: %o', async (size) => {
      const { id } = await upload()
      const first = await bot.as().listFilePassages({ id, ...size })
      expect(first.passages.map(({ meta }) => meta.position)).toEqual([0, 1])
      const nextToken = first.meta.nextToken ?? ''
      const second = await bot.as().listFilePassages({ id, ...size, nextToken })
      expect(second.passages.map(({ meta }) => meta.position)).toEqual([2])
      expect(second.meta).toEqual({})
    })

    it('as an empty list, where there are none', async () => {
      const { id } = await bot.upload({ key: 'plain.md' }, manual)
      expect(await contents(id)).toEqual([])
    })

    it('for an integration only where the file was shared when it was indexed', async () => {
      const { id } = await upload()
      const shared = await bot.uploadAndWait(
        { key: 'shared.md', index: true, accessPolicies: ['integrations'] },
        manual,
      )
      const other = bot.as(integration('another'))
      await expect(other.listFilePassages({ id })).rejects.toMatchObject({
        type: 'ResourceNotFound',
      })
      expect((await other.listFilePassages({ id: shared.id })).passages).toHaveLength(3)
    })
  })

  describe('can be set', () => {
    const given = [
      { content: '# Handbook', type: 'title' as const },
      { content: 'Nothing is **blue** here.', pageNumber: 3 },
      { content: 'Care', type: 'subtitle' as const },
      { content: '- oil\n- cloth', type: 'list' as const },
    ]

    it('and replace the former ones, at once and in their order', async () => {
      const { id } = await upload()
      expect(await bot.as().setFilePassages({ id, passages: given })).toEqual({})
      const { passages } = await bot.as().listFilePassages({ id })
      expect(passages).toMatchObject([
        { content: '# Handbook', meta: { subtype: 'title', position: 0 } },
        { content: 'Nothing is **blue** here.', meta: { subtype: 'paragraph', pageNumber: 3 } },
        { content: 'Care', meta: { subtype: 'subtitle', position: 2 } },
        { content: '- oil\n- cloth', meta: { subtype: 'list', position: 3 } },
      ])
      expect(await found('red valve')).toEqual([])
      expect(await found('blue')).toEqual(['Nothing is **blue** here.'])
      const [oil] = (
        await bot.as().searchFiles({ query: 'oil', includeBreadcrumb: true, contextDepth: 0 })
      ).passages
      expect(oil?.content).toBe('# Handbook\n\n## Care\n\n- oil\n- cloth')
      const { file } = await bot.as().getFile({ id })
      expect(file).toMatchObject({ status: 'indexing_completed', index: true })
      // The content is unchanged.
      expect(await (await fetch(file.url)).text()).toBe(manual)
    })

    it('also on a file that is not indexed', async () => {
      const { id } = await bot.upload({ key: 'scan.bin' }, 'no text')
      await bot.as().setFilePassages({ id, passages: [{ content: 'What the scan says.' }] })
      expect(await found('scan says')).toEqual(['What the scan says.'])
    })

    it('and stay when the file is indexed again, but not when it is uploaded again', async () => {
      const { id } = await upload()
      await bot.as().setFilePassages({ id, passages: given })
      await bot.as().reindexFile({ id })
      await bot.awaitStatus(id, 'indexing_completed')
      expect(await contents(id)).toEqual(given.map(({ content }) => content))
      await upload()
      expect(await contents(id)).toHaveLength(3)
      expect(await found('red valve')).toHaveLength(1)
    })

    it('to an empty list', async () => {
      const { id } = await upload()
      await bot.as().setFilePassages({ id, passages: [] })
      expect(await contents(id)).toEqual([])
      expect(await found('valve')).toEqual([])
      expect((await bot.as().getFile({ id })).file.status).toBe('indexing_completed')
    })

    it('by concurrent calls, of which the last wins as a whole', async () => {
      const { id } = await upload()
      const sets = ['ant', 'bee', 'cow'].map((word) =>
        Array.from({ length: 30 }, (_, at) => ({ content: `${word} ${at}` })),
      )
      await Promise.all(sets.map((passages) => bot.as().setFilePassages({ id, passages })))
      const { passages } = await bot.as().listFilePassages({ id, pageSize: 100 })
      const words = new Set(passages.map(({ content }) => content.split(' ')[0]))
      expect(passages).toHaveLength(30)
      expect(words.size).toBe(1)
    })

    it('and leave nothing behind', async () => {
      // Those of earlier tests may be removed meanwhile.
      const others = await blobKeys()
      const ownBlobs = async () => [...(await blobKeys())].filter((key) => !others.has(key)).length
      const { id } = await upload()
      expect(await ownBlobs()).toBe(1)
      await bot.as().setFilePassages({ id, passages: given })
      await bot.as().setFilePassages({ id, passages: given.slice(1) })
      await vi.waitFor(async () => expect(await ownBlobs()).toBe(2))
      await bot.as().deleteFile({ id })
      await vi.waitFor(async () => expect(await ownBlobs()).toBe(0))
      await vi.waitFor(async () => {
        const rows = await bench()
          .database.db.selectFrom('passages')
          .select('id')
          .where('file_id', '=', id)
          .execute()
        expect(rows).toEqual([])
      })
    })

    it('only within the limits', async () => {
      const { id } = await upload()
      const set = (passages: object[]) =>
        bot.as().setFilePassages({ id, passages: passages as { content: string }[] })
      const many = Array.from({ length: 5001 }, () => ({ content: 'x' }))
      await expect(set(many)).rejects.toMatchObject({
        type: 'LimitExceeded',
        message: 'body.passages must have at most 5000 items.',
      })
      await expect(set([{ content: 'fine' }, { content: ' \n' }])).rejects.toMatchObject({
        type: 'InvalidPayload',
        message: 'body.passages.1.content must have more than white space.',
      })
      await expect(set([{ content: 'x'.repeat(20_001) }])).rejects.toMatchObject({
        type: 'InvalidPayload',
        message: expect.stringContaining('body.passages.0.content'),
      })
      await expect(set([{ content: 'x', type: 'page' }])).rejects.toMatchObject({
        type: 'InvalidPayload',
        message: expect.stringContaining('body.passages.0.type'),
      })
      expect(await contents(id)).toHaveLength(3)
    })

    it('not before the content is uploaded, nor by an integration that does not own the file', async () => {
      const { file } = await bot.as().upsertFile({ key: 'new.md', size: 3, index: true })
      const passages = [{ content: 'x' }]
      await expect(bot.as().setFilePassages({ id: file.id, passages })).rejects.toMatchObject({
        type: 'ResourceLockedConflict',
        message: expect.stringContaining('upload_pending'),
      })
      const shared = await bot.uploadAndWait(
        { key: 'shared.md', index: true, accessPolicies: ['integrations'] },
        manual,
      )
      const other = bot.as(integration('another'))
      await expect(other.setFilePassages({ id: shared.id, passages })).rejects.toMatchObject({
        type: 'Forbidden',
      })
      await expect(other.reindexFile({ id: shared.id })).rejects.toMatchObject({
        type: 'Forbidden',
      })
      const stranger = bench().newBot()
      await expect(
        stranger.as().setFilePassages({ id: shared.id, passages }),
      ).rejects.toMatchObject({ type: 'ResourceNotFound' })
    })
  })

  describe('are made again', () => {
    it('while the former ones are found', async () => {
      const { id } = await upload()
      await bench().pauseJobs()
      const { file } = await bot.as().reindexFile({ id })
      expect(file.status).toBe('indexing_pending')
      expect(await found('red valve')).toHaveLength(1)
      const ids = (await bot.as().listFilePassages({ id })).passages.map((passage) => passage.id)
      bench().startJobs()
      await bot.awaitStatus(id, 'indexing_completed')
      expect(await found('red valve')).toHaveLength(1)
      const renewed = (await bot.as().listFilePassages({ id })).passages.map(({ id }) => id)
      expect(renewed).toHaveLength(3)
      expect(renewed).not.toEqual(ids)
    })

    it('of a file that was uploaded without indexing', async () => {
      const { id } = await bot.upload({ key: 'late.md' }, manual)
      await bot.as().reindexFile({ id })
      const file = await bot.awaitStatus(id, 'indexing_completed')
      expect(file.index).toBe(true)
      expect(await found('red valve')).toHaveLength(1)
    })

    it('keeping the former ones when it fails', async () => {
      const { id } = await upload()
      await bench().database.run((tx) =>
        tx
          .updateTable('file_contents')
          .set({ content_type: 'application/zip' })
          .where('file_id', '=', id)
          .execute(),
      )
      await bench().database.run((tx) =>
        tx.updateTable('files').set({ key: 'pump.zip' }).where('id', '=', id).execute(),
      )
      await bot.as().reindexFile({ id })
      const file = await bot.awaitStatus(id, 'indexing_failed')
      expect(file.failedStatusReason).toContain('cannot be indexed')
      expect(await found('red valve')).toHaveLength(1)
      expect(await contents(id)).toHaveLength(3)
    })

    it.each([
      ['', {}],
      [
        ' with the same options',
        { indexing: { configuration: { chunking: { maximumChunkLength: 64 } } } },
      ],
    ])('once for repeated requests%s', async (_, options) => {
      const { id } = await upload()
      await bench().pauseJobs()
      const responses = await Promise.all(
        [1, 2, 3].map(() => bot.as().reindexFile({ id, ...options })),
      )
      expect(responses.map(({ file }) => file.status)).toEqual(Array(3).fill('indexing_pending'))
      const { generation } = await bench()
        .database.db.selectFrom('files')
        .select('generation')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      expect(generation).toBe(2)
      bench().startJobs()
      await bot.awaitStatus(id, 'indexing_completed')
      expect(await contents(id)).toHaveLength(3)
    })

    it('with options that the server does not know, until they are too many', async () => {
      const { id } = await upload()
      const reindex = (name: string) =>
        bot.as().reindexFile({
          id,
          indexing: JSON.parse(`{"configuration":{"${name}":{"text":"${'x'.repeat(400_000)}"}}}`),
        })
      const names = ['constructor', 'other']
      for (const name of names) await reindex(name)
      await expect(reindex('third')).rejects.toMatchObject({
        type: 'LimitExceeded',
        metadata: { field: 'indexing' },
      })
      await reindex('other')
      const { metadata } = await bot.awaitStatus(id, 'indexing_completed')
      const { configuration } = Object(metadata.indexing)
      expect(Object.keys(configuration)).toEqual(expect.arrayContaining(names))
      expect(Object.keys(configuration)).not.toContain('third')
    })
  })

  describe('can be awaited', () => {
    const waitFor = 'indexing_completed' as const

    it('until they are searchable', async () => {
      await bench().pauseJobs()
      const { id } = await bot.upload({ key: 'a.md', index: true }, manual)
      const waiting = bot.as().getFile({ id, waitFor })
      bench().startJobs()
      expect((await waiting).file.status).toBe('indexing_completed')
    })

    it.each([
      ['a failure', { key: 'a.zip', index: true }, 'indexing_failed'],
      ['a file that is not to be indexed', { key: 'a.md' }, 'upload_completed'],
    ])('until it is known that there will be none: %s', async (_name, input, status) => {
      const { id } = await bot.upload(input, 'x')
      expect((await bot.as().getFile({ id, waitFor })).file.status).toBe(status)
    })

    it('before the upload', async () => {
      const { file } = await bot.as().upsertFile({ key: 'a.md', size: manual.length, index: true })
      const waiting = bot.as().getFile({ id: file.id, waitFor })
      await fetch(file.uploadUrl, { method: 'PUT', body: manual })
      expect((await waiting).file.status).toBe('indexing_completed')
    })

    it('for a limited time, and not after the file was deleted', async () => {
      const { file } = await bot.as().upsertFile({ key: 'a.md', size: 3, index: true })
      const late = await bot.as().getFile({ id: file.id, waitFor, timeout: 0 })
      expect(late.file.status).toBe('upload_pending')
      const waiting = bot.as().getFile({ id: file.id, waitFor })
      const refused = expect(waiting).rejects.toMatchObject({ type: 'ResourceNotFound' })
      // Lets the wait begin; if it starts too late, the outcome is the same.
      await bot.as().getFile({ id: file.id })
      await bot.as().deleteFile({ id: file.id })
      await refused
    })
  })
})
