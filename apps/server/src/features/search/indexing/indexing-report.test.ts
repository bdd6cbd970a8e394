import { sql } from 'kysely'
import { describe, expect, it, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { integration, send, type TestBot, useFiles } from '../../../../test/files.js'
import { scanOf } from '../../../../test/scans.js'

/** A page with pictures that nobody described. */
const page = (pictures: number, text = 'The harbour has two piers.') =>
  `<h1>Harbour</h1><p>${text}</p>${'<p><img src="pier.png"></p>'.repeat(pictures)}`

describeSlow('what was not read of a file', (engine) => {
  const bench = useFiles(engine)

  async function reportOf(bot: TestBot, id: string, caller?: ReturnType<typeof integration>) {
    return (await bot.as(caller).getFileIndexingReport({ id })).report
  }

  async function countOf(bot: TestBot, id: string, caller?: ReturnType<typeof integration>) {
    return (await bot.as(caller).getFile({ id })).file.indexingOmissions
  }

  async function storedReadings(bot: TestBot): Promise<number> {
    const rows = await bench()
      .database.db.selectFrom('file_readings')
      .select('file_id')
      .where('bot_id', '=', bot.id)
      .execute()
    return rows.length
  }

  it('is told: what, how often, why, and what to do', async () => {
    const bot = bench().newBot()
    const file = await bot.uploadAndWait({ key: 'a/b.html', index: true }, page(2))
    expect(file).toMatchObject({ status: 'indexing_completed', indexingOmissions: 2 })
    expect(await reportOf(bot, file.id)).toEqual({
      fileId: file.id,
      status: 'indexing_completed',
      outcome: 'partly_read',
      count: 2,
      omissions: [
        {
          kind: 'picture_without_text',
          count: 2,
          summary: expect.stringMatching(/^2 pictures without a description/),
          why: expect.stringContaining('no description'),
          advice: expect.stringContaining('alternative text'),
          places: expect.any(Array),
        },
      ],
    })
    expect(await reportOf(bot, 'a/b.html')).toEqual(await reportOf(bot, file.id))
    const { files } = await bot.as().listFiles()
    expect(files.map(({ indexingOmissions }) => indexingOmissions)).toEqual([2])
    const { events } = await bot.as().listFileEvents()
    expect(events.map(({ type, indexingOmissions }) => [type, indexingOmissions])).toEqual([
      ['file_created', undefined],
      ['file_upload_completed', undefined],
      ['file_indexing_completed', 2],
    ])
  })

  it('is nothing where all was read, and unknown where nothing was', async () => {
    const bot = bench().newBot()
    const whole = await bot.uploadAndWait({ key: 'a.md', index: true }, '# Pump\n\nKeep it dry.')
    expect(whole.indexingOmissions).toBe(0)
    expect(await reportOf(bot, 'a.md')).toMatchObject({ outcome: 'all_read', count: 0 })
    const stored = await bot.upload({ key: 'b.md' }, '# Pump')
    expect(stored).not.toHaveProperty('indexingOmissions')
    expect(await reportOf(bot, 'b.md')).toMatchObject({ outcome: 'unknown', omissions: [] })
    expect(await storedReadings(bot)).toBe(0)
    await expect(reportOf(bot, 'none.md')).rejects.toMatchObject({ type: 'ResourceNotFound' })
  })

  it('is all of a file beyond a limit, which the reason names with its value and what helps', async () => {
    const bot = bench().newBot()
    const deep = '<div>'.repeat(1000)
    const file = await bot.uploadAndWait({ key: 'deep.html', index: true }, `${deep}Harbour`)
    const reason = expect.stringMatching(/more than 512 levels deep\. Flatten it/)
    expect(file).toMatchObject({ status: 'indexing_failed', failedStatusReason: reason })
    expect(await reportOf(bot, 'deep.html')).toEqual({
      fileId: file.id,
      status: 'indexing_failed',
      failedStatusReason: reason,
      outcome: 'not_read',
      count: 0,
      omissions: [],
    })
  })

  it('names the pages that are pictures of text', async () => {
    const bot = bench().newBot()
    const content = await scanOf('The first page.', undefined, 'The third page.', undefined)
    await bot.uploadAndWait({ key: 'a.pdf', index: true }, content)
    expect(await reportOf(bot, 'a.pdf')).toMatchObject({
      outcome: 'partly_read',
      count: 2,
      parts: { count: 4, unread: 2 },
      omissions: [
        {
          kind: 'scanned_page',
          summary: '2 scanned pages: pages 2 and 4',
          places: [{ page: 2 }, { page: 4 }],
        },
      ],
    })
  })

  describe('if it is more than half', () => {
    const content = () => scanOf('Only this page says harbour.', undefined, undefined, undefined)
    const accepting = { configuration: { parsing: { allowPartial: true } } }

    it('lets the indexing fail, with what it was and what to do', async () => {
      const bot = bench().newBot()
      const file = await bot.uploadAndWait({ key: 'a.pdf', index: true }, await content())
      expect(file).toMatchObject({ status: 'indexing_failed', indexingOmissions: 3 })
      const { failedStatusReason: reason } = file
      expect(reason).toMatch(/^3 of 4 pages could not be read \(3 scanned pages: pages 2 to 4\)\./)
      expect(reason).toContain('OCR')
      expect(reason).toContain('`parsing.allowPartial`')
      expect((await bot.as().searchFiles({ query: 'harbour' })).passages).toEqual([])
      expect(await reportOf(bot, 'a.pdf')).toMatchObject({
        status: 'indexing_failed',
        failedStatusReason: reason,
        outcome: 'partly_read',
        parts: { count: 4, unread: 3 },
      })
    })

    it('is told also of a content without any text', async () => {
      const bot = bench().newBot()
      const scan = await scanOf(undefined, undefined)
      for (const [key, bytes] of [
        ['a.pdf', scan],
        ['a.html', '<object data="plan.dwg"></object>'],
      ] as const) {
        const file = await bot.uploadAndWait({ key, index: true, indexing: accepting }, bytes)
        expect(file.status).toBe('indexing_failed')
        const { outcome, omissions } = await reportOf(bot, key)
        expect([outcome, omissions.length]).toEqual(['partly_read', 1])
      }
      expect((await reportOf(bot, 'a.pdf')).omissions[0]?.places).toEqual([
        { page: 1 },
        { page: 2 },
      ])
      const empty = await bot.uploadAndWait({ key: 'empty.md', index: true }, ' ')
      expect(empty.status).toBe('indexing_failed')
      expect(empty).not.toHaveProperty('indexingOmissions')
      expect((await reportOf(bot, 'empty.md')).outcome).toBe('not_read')
    })

    it('is accepted if its author says so', async () => {
      const bot = bench().newBot()
      const bytes = await content()
      await bot.uploadAndWait({ key: 'a.pdf', index: true }, bytes)
      const file = await bot.uploadAndWait(
        { key: 'a.pdf', index: true, indexing: accepting },
        bytes,
      )
      expect(file).toMatchObject({ status: 'indexing_completed', indexingOmissions: 3 })
      expect((await bot.as().searchFiles({ query: 'harbour' })).passages).toHaveLength(1)
      // It was said once, of the content.
      await bot.as().reindexFile({ id: file.id })
      await bot.awaitStatus(file.id, 'indexing_completed')
    })

    it('is accepted later, from the content that is there, with the other options of before', async () => {
      const bot = bench().newBot()
      const chunking = { maximumChunkLength: 500 }
      const parsing = { minimumParagraphLength: 5 }
      const indexing = { configuration: { chunking, parsing } }
      const bytes = await content()
      const { id } = await bot.uploadAndWait({ key: 'a.pdf', index: true, indexing }, bytes)
      const own = { indexing: 'mine' }
      await bot.uploadAndWait({ key: 'b.pdf', index: true, metadata: own }, bytes)
      for (const each of [id, 'b.pdf']) {
        await bot.as().reindexFile({ id: each, indexing: accepting })
        const file = await bot.awaitStatus(each, 'indexing_completed')
        expect(file).toMatchObject({ indexingOmissions: 3 })
      }
      expect((await bot.as().getFile({ id })).file.metadata).toEqual({
        indexing: { configuration: { chunking, parsing: { ...parsing, allowPartial: true } } },
      })
      expect((await bot.as().getFile({ id: 'b.pdf' })).file.metadata).toEqual(own)
      // A file that waits is indexed with the options that came last.
      await bench().pauseJobs()
      await bot.as().reindexFile({ id })
      const refusing = { configuration: { parsing: { allowPartial: false } } }
      await bot.as().reindexFile({ id, indexing: refusing })
      bench().startJobs()
      await bot.awaitStatus(id, 'indexing_failed')
    })
  })

  it('is that of the former content until the new one is indexed', async () => {
    const bot = bench().newBot()
    await bot.uploadAndWait({ key: 'a.html', index: true }, page(3))
    await bench().pauseJobs()
    await bot.upload({ key: 'a.html', index: true }, page(0))
    expect([await countOf(bot, 'a.html'), (await reportOf(bot, 'a.html')).count]).toEqual([3, 3])
    bench().startJobs()
    await bot.awaitStatus('a.html', 'indexing_completed')
    expect([await countOf(bot, 'a.html'), (await reportOf(bot, 'a.html')).count]).toEqual([0, 0])
    expect(await storedReadings(bot)).toBe(0)
  })

  it('is told again when the file is indexed again, and goes with it', async () => {
    const bot = bench().newBot()
    const { id } = await bot.uploadAndWait({ key: 'a.html', index: true }, page(3))
    await bot.as().reindexFile({ id })
    await bot.awaitStatus(id, 'indexing_completed')
    expect((await reportOf(bot, id)).count).toBe(3)
    await bot.as().deleteFile({ id })
    expect(await storedReadings(bot)).toBe(0)
    await expect(reportOf(bot, id)).rejects.toMatchObject({ type: 'ResourceNotFound' })
  })

  it('is forgotten when the file is not indexed any more, and when a caller gives its passages', async () => {
    const bot = bench().newBot()
    const { id } = await bot.uploadAndWait({ key: 'a.html', index: true }, page(1))
    await bot.as().setFilePassages({ id, passages: [{ content: 'Of a caller.' }] })
    expect(await countOf(bot, id)).toBeUndefined()
    expect((await reportOf(bot, id)).outcome).toBe('unknown')
    await bot.uploadAndWait({ key: 'b.html', index: true }, page(1))
    await bot.upload({ key: 'b.html' }, page(1))
    expect(await countOf(bot, 'b.html')).toBeUndefined()
    expect(await storedReadings(bot)).toBe(0)
  })

  it('is copied with the file, also into another bot', async () => {
    const bot = bench().newBot()
    const other = bench().newBot({ workspaceOf: bot })
    const { id } = await bot.uploadAndWait({ key: 'a.html', index: true }, page(2))
    await bot.uploadAndWait({ key: 'whole.md', index: true }, '# Whole')
    await bot.as().copyFile({ idOrKey: id, destinationKey: 'b.html' })
    await bot
      .as()
      .copyFile(
        { idOrKey: id, destinationKey: 'c.html' },
        { headers: { 'x-destination-bot-id': other.id } },
      )
    await bot.as().copyFile({ idOrKey: 'whole.md', destinationKey: 'd.md' })
    await bot.awaitStatus('b.html', 'indexing_completed')
    await bot.awaitStatus('d.md', 'indexing_completed')
    await other.awaitStatus('c.html', 'indexing_completed')
    const { omissions } = await reportOf(bot, id)
    expect(await reportOf(bot, 'b.html')).toMatchObject({ count: 2, omissions })
    expect(await reportOf(other, 'c.html')).toMatchObject({ count: 2, omissions })
    expect(await reportOf(bot, 'd.md')).toMatchObject({ outcome: 'all_read' })
  })

  it('stays with passages that stay because the file could not be indexed again', async () => {
    const bot = bench().newBot()
    const { id } = await bot.uploadAndWait({ key: 'a.html', index: true }, page(2))
    const { blob_key } = await bench()
      .database.db.selectFrom('file_contents')
      .select('blob_key')
      .where('file_id', '=', id)
      .executeTakeFirstOrThrow()
    await bench().blobs.remove(blob_key ?? '')
    await bot.as().reindexFile({ id })
    await bot.awaitStatus(id, 'indexing_failed')
    expect(await countOf(bot, id)).toBe(2)
    expect(await reportOf(bot, id)).toMatchObject({ outcome: 'partly_read', count: 2 })
    const { events } = await bot.as().listFileEvents()
    const outcomes = events.filter(({ type }) => type.startsWith('file_indexing'))
    expect(outcomes.map(({ type, indexingOmissions }) => [type, indexingOmissions])).toEqual([
      ['file_indexing_completed', 2],
      ['file_indexing_failed', undefined],
    ])
  })

  it('is known to an integration as far as it may read the content', async () => {
    const bot = bench().newBot()
    const caller = integration('i1')
    const { id } = await bot.uploadAndWait({ key: 'a.html', index: true }, page(2))
    await expect(reportOf(bot, id, caller)).rejects.toMatchObject({ type: 'ResourceNotFound' })
    const shared = { accessPolicies: ['integrations' as const] }
    const text = page(1, 'New words.')
    const input = { key: 'a.html', index: true, size: text.length, ...shared }
    const { file } = await bot.as().upsertFile(input)
    expect(await countOf(bot, id, caller)).toBeUndefined()
    expect(await reportOf(bot, id, caller)).toMatchObject({ outcome: 'unknown', omissions: [] })
    await send(file.uploadUrl, text)
    await bot.awaitStatus(id, 'indexing_completed')
    expect(await countOf(bot, id, caller)).toBe(1)
    expect((await reportOf(bot, id, caller)).count).toBe(1)
  })

  it.runIf(engine.name === 'postgres')(
    'is of the moment at which the file may be read',
    async () => {
      const bot = bench().newBot()
      const caller = integration('i1')
      const shared = { accessPolicies: ['integrations' as const] }
      const { id } = await bot.uploadAndWait({ key: 'a.html', index: true, ...shared }, page(2))
      let change: Promise<void> | undefined
      await new Promise<void>((locked) => {
        change = bench().database.run(async (tx) => {
          // Blocks readers of the table until the file is no longer shared.
          await sql`lock table file_readings in access exclusive mode`.execute(tx)
          locked()
          await vi.waitFor(async () => {
            const { rows } = await sql`select 1 from pg_locks where not granted
              and relation = 'file_readings'::regclass`.execute(tx)
            expect(rows).toHaveLength(1)
          }, 20_000)
          await tx.updateTable('files').set({ shared: 0 }).where('id', '=', id).execute()
        })
      })
      const answer = reportOf(bot, id, caller)
      await expect(answer).rejects.toMatchObject({ type: 'ResourceNotFound' })
      await change
    },
  )

  it('is bounded, whatever names a document has', async () => {
    const bot = bench().newBot()
    const names = Array.from({ length: 30 }, (_, at) => `${at}${'\u{1F5FA}'.repeat(250)}`)
    const content = names
      .map((name) => `<p><img src="${name}.png"><embed src="${name}.dwg"></p>`)
      .join('')
    await bot.uploadAndWait({ key: 'a.html', index: true }, `<h1>Maps</h1>${content}`)
    const { reading } = await bench()
      .database.db.selectFrom('file_readings')
      .select('reading')
      .where('bot_id', '=', bot.id)
      .executeTakeFirstOrThrow()
    expect(Buffer.byteLength(reading)).toBeLessThanOrEqual(16 * 1024)
    const { omissions } = await reportOf(bot, 'a.html')
    expect(omissions.map(({ kind, count }) => [kind, count])).toEqual([
      ['picture_without_text', 30],
      ['embedded_file', 30],
    ])
    const parts = omissions.flatMap(({ places }) => places.map(({ part = '' }) => part))
    expect(parts.length).toBeGreaterThan(0)
    expect(parts.every((part) => part.length <= 200 && part.isWellFormed())).toBe(true)
  })

  it('goes with the bot', async () => {
    const bot = bench().newBot()
    await bot.uploadAndWait({ key: 'a.html', index: true }, page(2))
    expect(await storedReadings(bot)).toBe(1)
    await bench().files.purge(bot.id)
    expect(await storedReadings(bot)).toBe(0)
  })
})
