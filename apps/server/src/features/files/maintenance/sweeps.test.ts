import { Readable } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { type TestBot, useFiles } from '../../../../test/files.js'

const minute = 60_000
const hour = 60 * minute

describeSlow('the sweeps', (engine) => {
  const bench = useFiles(engine)

  async function blobKeys(): Promise<string[]> {
    const keys: string[] = []
    for await (const { key } of bench().blobs.list()) keys.push(key)
    return keys.toSorted()
  }

  async function blobOf(fileId: string): Promise<string | null> {
    const { blob_key } = await bench()
      .database.db.selectFrom('file_contents')
      .select('blob_key')
      .where('file_id', '=', fileId)
      .executeTakeFirstOrThrow()
    return blob_key
  }

  async function usageOf(bot: TestBot) {
    return await bench()
      .database.db.selectFrom('file_usage')
      .select(['storage_bytes', 'vector_bytes'])
      .where('workspace_id', '=', bot.workspaceId)
      .executeTakeFirst()
  }

  const filesOf = async (bot: TestBot) =>
    await bench()
      .database.db.selectFrom('files')
      .select('key')
      .where('bot_id', '=', bot.id)
      .execute()

  /** Waits until the sweeps have completed the checked work. */
  const eventually = (check: () => Promise<void>) => vi.waitFor(check, { interval: 10 })

  it('remove the contents of files that were replaced or deleted', async () => {
    const bot = bench().newBot()
    const { id } = await bot.upload({ key: 'a.txt' }, 'first')
    const first = await blobOf(id)
    await bot.upload({ key: 'a.txt' }, 'second')
    const second = await blobOf(id)
    await eventually(async () => expect(await blobKeys()).not.toContain(first))
    expect(await blobKeys()).toContain(second)
    await bot.as().deleteFile({ id })
    await eventually(async () => expect(await blobKeys()).not.toContain(second))
    expect(await usageOf(bot)).toEqual({ storage_bytes: 0, vector_bytes: 0 })
  })

  it('remove the passages of files that were replaced or deleted', async () => {
    const bot = bench().newBot()
    const numbers = async () =>
      (
        await bench()
          .database.db.selectFrom('passages')
          .select('number')
          .where('bot_id', '=', bot.id)
          .execute()
      ).length
    await bot.uploadAndWait({ key: 'a.md', index: true }, '# A\n\nOne.')
    await bot.uploadAndWait({ key: 'a.md', index: true }, '# A\n\nTwo.')
    await eventually(async () => expect(await numbers()).toBe(1))
    await bot.as().deleteFile({ id: 'a.md' })
    await eventually(async () => expect(await numbers()).toBe(0))
  })

  it('continue although one of the blobs cannot be removed', async () => {
    const { database, queue } = bench()
    await bench().blobs.put('bbbb-removable', Readable.from([Buffer.from('x')]))
    await bench().pauseJobs()
    await database.run(async (tx) => {
      // No blob store accepts such a key, so removing it fails.
      const keys = ['!', 'bbbb-removable'].map((blob_key) => ({ blob_key }))
      await tx.insertInto('discarded_blobs').values(keys).execute()
      await queue.enqueue(tx, { kind: 'files.sweep', key: 'all', payload: {} })
    })
    bench().startJobs()
    await eventually(async () => {
      const left = await database.db.selectFrom('discarded_blobs').selectAll().execute()
      expect(left).toEqual([{ blob_key: '!' }])
    })
    expect(await blobKeys()).not.toContain('bbbb-removable')
    await database.run((tx) => tx.deleteFrom('discarded_blobs').execute())
  })

  it('remove a blob without a row after a crash, but not while the row may still be written', async () => {
    const bot = bench().newBot()
    const { id } = await bot.upload({ key: 'a.txt' }, 'kept')
    await bench().blobs.put('crashed-upload', Readable.from([Buffer.from('x')]))
    const schedule = () => bench().database.run((tx) => bench().files.schedule(tx))

    await schedule()
    await eventually(async () => expect(await jobsWaiting('files.orphans')).toEqual(['later']))
    expect(await blobKeys()).toContain('crashed-upload')

    bench().clock.advance(2 * hour)
    await schedule()
    await eventually(async () => expect(await blobKeys()).not.toContain('crashed-upload'))
    expect(await blobKeys()).toContain(await blobOf(id))
  })

  it('remove a content whose file is already gone', async () => {
    const bot = bench().newBot()
    const { file } = await bot.as().upsertFile({ key: 'lost.txt', size: 5 })
    await bench().database.run((tx) => tx.deleteFrom('files').where('id', '=', file.id).execute())
    bench().clock.advance(25 * hour)
    await bench().database.run((tx) => bench().files.schedule(tx))
    await eventually(async () => {
      const rows = await bench()
        .database.db.selectFrom('file_contents')
        .select('generation')
        .where('file_id', '=', file.id)
        .execute()
      expect(rows).toEqual([])
    })
  })

  it('keep counting a content until then, except for abandoned uploads', async () => {
    const bot = bench().newBot()
    const { file } = await bot.as().upsertFile({ key: 'a.txt', size: 1000, index: true })
    expect(await usageOf(bot)).toEqual({ storage_bytes: 1000, vector_bytes: 1000 })
    bench().clock.advance(25 * hour)
    await bench().database.run((tx) => bench().files.schedule(tx))
    await bot.awaitStatus(file.id, 'upload_failed')
    expect(await usageOf(bot)).toEqual({ storage_bytes: 0, vector_bytes: 0 })
  })

  describe('a file that expires', () => {
    it('is hidden from its minute on, and then deleted', async () => {
      const bot = bench().newBot()
      const expiresAt = new Date(bench().clock.now() + 5 * minute).toISOString()
      const file = await bot.uploadAndWait({ key: 'a.md', index: true, expiresAt }, '# A\n\nOne.')
      await bot.uploadAndWait({ key: 'b.md', index: true }, '# A\n\nTwo.')
      const { files } = await bot.as().listFiles()
      expect(files).toHaveLength(2)

      await bench().pauseJobs()
      bench().clock.advance(Date.parse(file.expiresAt ?? '') - bench().clock.now())
      await expect(bot.as().getFile({ id: file.id })).rejects.toMatchObject({
        type: 'ResourceNotFound',
      })
      expect((await bot.as().listFiles()).files).toHaveLength(1)
      expect((await bot.as().searchFiles({ query: 'one two' })).passages).toHaveLength(1)

      bench().startJobs()
      await eventually(async () => {
        const rows = await bench()
          .database.db.selectFrom('files')
          .select('id')
          .where('bot_id', '=', bot.id)
          .execute()
        expect(rows).toHaveLength(1)
      })
    })

    it('frees its key at once', async () => {
      const bot = bench().newBot()
      await bench().pauseJobs()
      const expiresAt = new Date(bench().clock.now() + 2 * minute).toISOString()
      const old = await bot.upload({ key: 'a.txt', expiresAt }, 'old')
      bench().clock.advance(2 * minute)
      const next = await bot.upload({ key: 'a.txt' }, 'new')
      expect(next.id).not.toBe(old.id)
      expect(next).not.toHaveProperty('expiresAt')
      bench().startJobs()
    })

    it('is visible again after the clock was set back, and is deleted when its minute comes', async () => {
      const bot = bench().newBot()
      const client = bot.as()
      const expiresAt = new Date(bench().clock.now() + 5 * minute).toISOString()
      await bench().pauseJobs()
      const { id } = await bot.upload({ key: 'a.txt', expiresAt }, 'kept')
      bench().clock.advance(90 * 24 * hour)
      await expect(client.getFile({ id })).rejects.toMatchObject({ type: 'ResourceNotFound' })
      bench().clock.advance(-90 * 24 * hour)
      bench().startJobs()
      await bench().database.run((tx) => bench().files.schedule(tx))
      await eventually(async () => expect(await jobsWaiting('files.expire')).toEqual(['later']))
      const { file } = await client.getFile({ id })
      expect(await (await fetch(file.url)).text()).toBe('kept')

      bench().clock.advance(6 * minute)
      await eventually(async () => expect(await filesOf(bot)).toEqual([]))
      expect(await usageOf(bot)).toEqual({ storage_bytes: 0, vector_bytes: 0 })
    })

    it('is deleted at its own time, in whatever order files were announced', async () => {
      const bot = bench().newBot()
      const at = (minutes: number) => new Date(bench().clock.now() + minutes * minute).toISOString()
      await bot.as().upsertFile({ key: 'late', size: 0, expiresAt: at(60) })
      await bot.as().upsertFile({ key: 'early', size: 0, expiresAt: at(10) })
      bench().clock.advance(11 * minute)
      await eventually(async () => expect(await filesOf(bot)).toEqual([{ key: 'late' }]))
      bench().clock.advance(50 * minute)
      await eventually(async () => expect(await filesOf(bot)).toEqual([]))
    })
  })

  it('is deleted with its bot', async () => {
    const bot = bench().newBot()
    const other = bench().newBot()
    for (const each of [bot, other]) {
      await each.uploadAndWait({ key: 'a.md', index: true, tags: { a: 'b' } }, '# A\n\nOne.')
    }
    bench().forgetBot(bot)
    await bench().search.purge(bot.id)
    await bench().files.purge(bot.id)
    for (const table of ['files', 'file_tags', 'passages'] as const) {
      const rows = await bench().database.db.selectFrom(table).select('bot_id').execute()
      const bots = new Set(rows.map(({ bot_id }) => bot_id))
      expect(bots.has(bot.id)).toBe(false)
      expect(bots.has(other.id)).toBe(true)
    }
    expect((await other.as().searchFiles({ query: 'one' })).passages).toHaveLength(1)
  })

  async function jobsWaiting(kind: string): Promise<string[]> {
    const jobs = await bench()
      .database.db.selectFrom('jobs')
      .select(['state', 'due_at'])
      .where('kind', '=', kind)
      .execute()
    const now = new Date(bench().clock.now()).toISOString()
    return jobs.map(({ state, due_at }) =>
      state === 'waiting' && due_at !== null && due_at > now ? 'later' : state,
    )
  }
})
