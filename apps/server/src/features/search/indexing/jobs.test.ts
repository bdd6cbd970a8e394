import { rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { pdf, sentences } from '../../../../../../packages/documents/test/pdf.js'
import { describeSlow } from '../../../../test/engines.js'
import { type TestBot, useFiles } from '../../../../test/files.js'
import { indexFileJob } from '../../files/index.js'

describeSlow('the progress of a file', (engine) => {
  const lines: string[] = []
  const logTo = { write: (line: string) => void lines.push(line) }
  const bench = useFiles(engine, { logTo, progressPauseMs: 0 })

  afterEach(() => {
    vi.restoreAllMocks()
  })

  /** Expects that progress never decreases, and is that of the first attempt. */
  function expectProgress(reports: readonly { percent: number; attempt: number }[]): void {
    const percents = reports.map(({ percent }) => percent)
    expect(percents.length).toBeGreaterThan(1)
    expect(percents).toEqual(percents.toSorted((a, b) => a - b))
    expect(percents.at(-1)).toBeLessThan(100)
    expect(reports.every(({ attempt }) => attempt === 1)).toBe(true)
  }

  it('is reported in the log, with every step', async () => {
    // A step that begins while a report is still being stored may end without one.
    vi.spyOn(bench().files.indexing, 'report').mockResolvedValue()
    const pages = 15
    const content = await pdf((document) => {
      for (let page = 1; page <= pages; page += 1) {
        if (page > 1) document.addPage()
        document.fontSize(11).text(sentences(`page ${page}`, 20))
      }
    })
    const bot = bench().newBot()
    const configuration = { chunking: { maximumChunkLength: 100 } }
    const { id } = await bot.uploadAndWait(
      { key: 'a.pdf', index: true, indexing: { configuration } },
      content,
    )
    const logged = lines
      .map((line) => JSON.parse(line))
      .filter(({ msg, file: about }) => msg === 'indexing' && about === id)
    expectProgress(logged)
    const steps = [...new Set(logged.map(({ step }) => step))]
    expect(steps).toEqual(['extract', 'chunk', 'embed', 'publish'])
    expect(logged.find(({ step }) => step === 'chunk')).toMatchObject({ pages })
    const { passages, passagesTotal } = logged.at(-1)
    expect([passages, passagesTotal > pages]).toEqual([passagesTotal, true])
  })

  it('is shown in the file, and removed once the file is indexed', async () => {
    const bot = bench().newBot()
    const { indexing } = bench().files
    const report = indexing.report.bind(indexing)
    const seen: NonNullable<Awaited<ReturnType<typeof bot.awaitStatus>>['indexingProgress']>[] = []
    vi.spyOn(indexing, 'report').mockImplementation(async (job, progress) => {
      await report(job, progress)
      const { file } = await bot.as().getFile({ id: job.fileId })
      expect(file.status).toBe('indexing_pending')
      if (file.indexingProgress !== undefined) seen.push(file.indexingProgress)
    })
    const file = await bot.uploadAndWait({ key: 'a.md', index: true }, '# Pump\n\nKeep it dry.')
    expect(file.status).toBe('indexing_completed')
    expect(file).not.toHaveProperty('indexingProgress')
    expectProgress(seen)
    expect(seen[0]).toMatchObject({ step: 'extract', percent: 0 })
    expect(seen.at(-1)).toMatchObject({ step: 'publish', passages: 1, passagesTotal: 1 })
  })
})

describeSlow('indexing', (engine) => {
  const bench = useFiles(engine)

  async function positions(bot: TestBot): Promise<number[]> {
    const rows = await bench()
      .database.db.selectFrom('passages')
      .select('position')
      .where('bot_id', '=', bot.id)
      .orderBy('position')
      .execute()
    return rows.map(({ position }) => position)
  }

  /** Waits until some passages of a document are written. */
  const someWritten = (bot: TestBot) =>
    vi.waitFor(async () => expect(await positions(bot)).not.toEqual([]), {
      interval: 1,
    })

  /** A document with this number of passages. */
  function sections(count: number): string {
    const parts = Array.from({ length: count }, (_, at) => `## Part ${at}\n\nWord${at} is here.`)
    return `# Title\n\n${parts.join('\n\n')}`
  }
  const small = {
    configuration: { parsing: { minimumParagraphLength: 0 }, chunking: { maximumChunkLength: 64 } },
  }

  it('reads a local content without a copy', async () => {
    const copies = vi.spyOn(bench().blobs, 'get')
    const file = await bench().newBot().uploadAndWait({ key: 'a.md', index: true }, '# Here')
    expect(file.status).toBe('indexing_completed')
    expect(copies).not.toHaveBeenCalled()
    copies.mockRestore()
  })

  describe('a file that cannot be indexed', () => {
    it.each([
      ['an unknown format', { key: 'a.zip' }, 'x', 'cannot be indexed'],
      ['no text', { key: 'a.md' }, ' \n', 'contains no text. Upload it again'],
      ['no text in a page', { key: 'a.html' }, '<p>', 'as the browser shows it'],
      ['no content at all', { key: 'a.txt' }, '', 'contains no text'],
      ['content of another format', { key: 'a.txt' }, '%PDF-1.7 ...', 'PDF'],
    ])('says why: %s', async (_name, input, content, reason) => {
      const bot = bench().newBot()
      const file = await bot.uploadAndWait({ ...input, index: true }, content)
      expect(file).toMatchObject({
        status: 'indexing_failed',
        failedStatusReason: expect.stringContaining(reason),
        size: content.length,
      })
      expect(file).not.toHaveProperty('indexingStack')
    })

    it('does not block another one', async () => {
      const bot = bench().newBot()
      const bad = bot.uploadAndWait({ key: 'bad.zip', index: true }, 'x')
      const good = bot.uploadAndWait({ key: 'good.md', index: true }, '# Good')
      expect((await good).status).toBe('indexing_completed')
      expect((await bad).status).toBe('indexing_failed')
    })
  })

  it('reads a file of another bot before the many that one bot had sent earlier', async () => {
    await bench().pauseJobs()
    const [busy, other] = [bench().newBot(), bench().newBot()]
    const input = (at: number) => ({ key: `${at}.md`, index: true })
    const many = 40
    for (let at = 0; at < many; at += 1) await busy.upload(input(at), `# Part ${at}`)
    await other.upload({ key: 'only.md', index: true }, '# Only')
    const { indexing } = bench().files
    const find = indexing.find.bind(indexing)
    const begun: string[] = []
    const watch = vi.spyOn(indexing, 'find').mockImplementation(async (of) => {
      begun.push(of.botId)
      return await find(of)
    })
    bench().startJobs()
    await other.awaitStatus('only.md', 'indexing_completed')
    for (let at = 0; at < many; at += 1) {
      await busy.awaitStatus(`${at}.md`, 'indexing_completed')
    }
    watch.mockRestore()
    expect(begun).toHaveLength(many + 1)
    // Among the first that are claimed at once.
    expect(begun.indexOf(other.id)).toBeLessThan(4)
  })

  it('writes a long document in parts and shows it as a whole', async () => {
    const bot = bench().newBot()
    await bot.uploadAndWait({ key: 'long.md', index: true, indexing: small }, sections(250))
    const written = await positions(bot)
    expect(written.length).toBeGreaterThan(200)
    expect(written).toEqual(written.map((_, at) => at))
    const { passages } = await bot.as().searchFiles({ query: 'word249' })
    expect(passages[0]?.content).toContain('Word249')
  })

  it('continues after the process was stopped in the middle', async () => {
    const bot = bench().newBot()
    await bot.upload({ key: 'long.md', index: true, indexing: small }, sections(250))
    await someWritten(bot)
    await bench().pauseJobs()
    bench().startJobs()
    await bot.awaitStatus('long.md', 'indexing_completed')
    const written = await positions(bot)
    expect(written).toEqual(written.map((_, at) => at))
  })

  it('reads a file of another workspace before those of many bots of one', async () => {
    const first = bench().newBot()
    const others = Array.from({ length: 30 }, () => bench().newBot({ workspaceOf: first }))
    await bench().pauseJobs()
    const many = [first, ...others]
    for (const bot of many) await bot.upload({ key: 'a.md', index: true }, sections(5))
    const other = bench().newBot()
    await other.upload({ key: 'a.md', index: true }, '# Title\n\nText.')
    bench().startJobs()
    const doneAt = async (bot: TestBot) =>
      (await bot.awaitStatus('a.md', 'indexing_completed')).updatedAt
    const times = await Promise.all(many.map(doneAt))
    const own = await doneAt(other)
    expect(times.filter((time) => time > own).length).toBeGreaterThan(times.length / 2)
  })

  it('changes nothing when it is repeated', async () => {
    const bot = bench().newBot()
    const file = await bot.uploadAndWait({ key: 'a.md', index: true }, '# Title\n\nText.')
    const payload = { botId: bot.id, fileId: file.id, generation: 1 }
    await bench().database.run((tx) =>
      bench().queue.enqueue(tx, { kind: indexFileJob, key: file.id, payload }),
    )
    await vi.waitFor(
      async () => {
        const busy = (await bench().queue.stats()).filter(
          ({ waiting, running }) => waiting + running,
        )
        expect(busy).toEqual([])
      },
      { interval: 10 },
    )
    expect((await bot.as().getFile({ id: file.id })).file).toEqual({
      ...file,
      url: expect.any(String),
    })
    expect((await bot.as().searchFiles({ query: 'text' })).passages).toHaveLength(1)
    expect(await positions(bot)).toEqual([0])
  })

  it('leaves nothing of a file that is deleted in the meantime', async () => {
    const bot = bench().newBot()
    const { id } = await bot.upload({ key: 'a.md', index: true, indexing: small }, sections(250))
    await someWritten(bot)
    await bot.as().deleteFile({ id })
    await vi.waitFor(async () => expect(await positions(bot)).toEqual([]), {
      interval: 10,
    })
    expect((await bot.as().searchFiles({ query: 'word1' })).passages).toEqual([])
  })

  it('waits while all contents are missing, as on a disk that is not mounted', async () => {
    const bot = bench().newBot()
    const folder = dirname(dirname(bench().blobs.localPath?.('a'.repeat(8), 0) ?? ''))
    await bench().pauseJobs()
    const { id } = await bot.upload({ key: 'a.md', index: true }, '# Title')
    // While the clock stands still there is no second attempt.
    await bench().clock.hold(async () => {
      await rename(folder, `${folder}-away`)
      try {
        bench().startJobs()
        const failed = await vi.waitFor(async () => {
          const job = await bench()
            .database.db.selectFrom('jobs')
            .selectAll()
            .where('kind', '=', indexFileJob)
            .where('key', '=', id)
            .executeTakeFirstOrThrow()
          expect(job.state).toBe('waiting')
          expect(job.last_error).not.toBeNull()
          return job
        })
        expect(failed.last_error).toContain('The store of contents cannot be reached')
      } finally {
        await rename(`${folder}-away`, folder)
      }
      expect((await bot.as().getFile({ id })).file.status).toBe('indexing_pending')
    })
    // Half a minute at most passes until the next attempt.
    bench().clock.advance(30_000)
    await bot.awaitStatus(id, 'indexing_completed')
  })

  it.each<[string, (key: string) => Promise<unknown>]>([
    ['is missing', (key) => bench().blobs.remove(key)],
    [
      'is not what was uploaded',
      (key) => bench().blobs.put(key, Readable.from([Buffer.from('# Other')])),
    ],
  ])('of a content that %s fails at once, with a reason', async (what, lose) => {
    const bot = bench().newBot()
    await bench().pauseJobs()
    const { id } = await bot.upload({ key: 'a.md', index: true }, '# Title')
    const { blob_key } = await bench()
      .database.db.selectFrom('file_contents')
      .select('blob_key')
      .where('file_id', '=', id)
      .executeTakeFirstOrThrow()
    await lose(blob_key ?? '')
    bench().startJobs()
    // The clock stands still, so that a second attempt would never happen.
    const failed = await vi.waitFor(async () => {
      const { file } = await bot.as().getFile({ id })
      expect(file.status).toBe('indexing_failed')
      return file
    })
    expect(failed.failedStatusReason).toContain(`The stored content ${what}`)
    expect(failed.failedStatusReason).toContain('Upload the file again')
    expect(failed.failedStatusReason).toContain('botstead check')
    expect((await bot.as().searchFiles({ query: 'other title' })).passages).toEqual([])
  })
})
