import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, it, vi } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { type TestBot, useFiles } from '../../../../test/files.js'

describeSlow('equal contents', (engine) => {
  const bench = useFiles(engine)

  const blobsOf = async (bot: TestBot) =>
    await bench()
      .database.db.selectFrom('file_blobs')
      .select(['blob_key', 'sha256', 'uses'])
      .where('bot_id', '=', bot.id)
      .execute()
  const passagesOf = async (bot: TestBot) =>
    (
      await bench()
        .database.db.selectFrom('passages')
        .select('id')
        .where('bot_id', '=', bot.id)
        .orderBy('id')
        .execute()
    ).map(({ id }) => id)
  const storedBlobs = async () => {
    const keys: string[] = []
    for await (const { key } of bench().blobs.list()) keys.push(key)
    return keys
  }
  const text = '# Valve\n\nTurn it to the left.'

  it('of one bot are stored once, whatever their keys, until the last file is deleted', async () => {
    const bot = bench().newBot()
    for (const key of ['a.txt', 'b.txt', 'a.txt']) await bot.upload({ key }, 'the same')
    const [blob, ...others] = await blobsOf(bot)
    expect([blob?.uses, others]).toEqual([2, []])
    await bot.as().deleteFile({ id: 'a.txt' })
    const { file } = await bot.as().getFile({ id: 'b.txt' })
    expect(await (await fetch(file.url)).text()).toBe('the same')
    expect((await blobsOf(bot)).map(({ uses }) => uses)).toEqual([1])
    await bot.as().deleteFile({ id: 'b.txt' })
    expect(await blobsOf(bot)).toEqual([])
    await vi.waitFor(async () => expect(await storedBlobs()).not.toContain(blob?.blob_key))
  })

  it('of two bots are stored separately', async () => {
    const [one, other] = [bench().newBot(), bench().newBot()]
    for (const bot of [one, other]) await bot.upload({ key: 'a.txt' }, 'theirs')
    const keys = (await Promise.all([one, other].map(blobsOf))).flat()
    expect(new Set(keys.map(({ blob_key }) => blob_key)).size).toBe(2)
  })

  it('under the same key are found at once, by the existing passages', async () => {
    const bot = bench().newBot()
    await bot.uploadAndWait({ key: 'a.md', index: true }, text)
    const before = await passagesOf(bot)
    await bench().pauseJobs()
    // Twice, because the second time the passages are those of a generation that no longer exists.
    for (const lang of ['en', 'de']) {
      const file = await bot.upload({ key: 'a.md', index: true, tags: { lang } }, text)
      expect(file.status).toBe('indexing_completed')
      const { passages } = await bot.as().searchFiles({ query: 'valve', tags: { lang } })
      expect(passages).toHaveLength(1)
    }
    bench().startJobs()
    await vi.waitFor(async () => {
      const waiting = bench().database.db.selectFrom('jobs').select('id')
      expect(await waiting.where('kind', '=', 'search.clear').execute()).toEqual([])
    })
    expect(await passagesOf(bot)).toEqual(before)
    await bot.uploadAndWait({ key: 'a.md', index: true }, '# Other\n\nWords.')
    expect((await bot.as().searchFiles({ query: 'valve' })).passages).toEqual([])
  })

  it('are indexed again when the configuration differs', async () => {
    const bot = bench().newBot()
    await bot.uploadAndWait({ key: 'a.md', index: true }, text)
    const before = await passagesOf(bot)
    const indexing = { configuration: { chunking: { maximumChunkLength: 100 } } }
    await bot.uploadAndWait({ key: 'a.md', index: true, indexing }, text)
    expect((await bot.as().searchFiles({ query: 'valve' })).passages).toHaveLength(1)
    await vi.waitFor(async () => {
      const after = await passagesOf(bot)
      expect(after).toHaveLength(1)
      expect(after).not.toEqual(before)
    })
  })

  it('are counted correctly after any uploads, copies and deletions', async () => {
    const key = fc.constantFrom('a', 'b', 'c')
    const step = fc.oneof(
      fc.record({ do: fc.constant('upload'), key, content: fc.constantFrom('one', 'two2') }),
      fc.record({ do: fc.constant('copy'), key, content: key }),
      fc.record({ do: fc.constant('delete'), key, content: fc.constant('') }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
        const bot = bench().newBot()
        const client = bot.as()
        const model = new Map<string, string>()
        for (const { do: act, key, content } of steps) {
          if (act === 'upload') {
            await bot.upload({ key }, content)
            model.set(key, content)
          } else if (act === 'copy') {
            const copied = client.copyFile({
              idOrKey: content,
              destinationKey: key,
              overwrite: true,
            })
            const ok = await copied.then(
              () => true,
              () => false,
            )
            const source = model.get(content)
            expect(ok).toBe(source !== undefined && content !== key)
            if (ok && source !== undefined) model.set(key, source)
          } else {
            await client.deleteFile({ id: key }).catch(() => undefined)
            model.delete(key)
          }
        }
        const contents = [...model.values()]
        const uses = (await blobsOf(bot)).map((blob) => blob.uses).toSorted()
        const expected = [...new Set(contents)].map(
          (content) => contents.filter((each) => each === content).length,
        )
        expect(uses).toEqual(expected.toSorted())
        for (const [key, content] of model) {
          const { file } = await client.getFile({ id: key })
          expect(await (await fetch(file.url)).text()).toBe(content)
        }
        const usage = await bench()
          .database.db.selectFrom('file_usage')
          .select('storage_bytes')
          .where('workspace_id', '=', bot.workspaceId)
          .executeTakeFirst()
        const bytes = contents.reduce((sum, { length }) => sum + length, 0)
        expect(usage?.storage_bytes ?? 0).toBe(bytes)
      }),
      { numRuns: 10 },
    )
  })
})

describeSlow('equal contents at the same time', (engine) => {
  const bench = useFiles(engine)

  it.runIf(engine.name === 'postgres')('are copied and deleted without a deadlock', async () => {
    const bot = bench().newBot()
    const work = Array.from({ length: 8 }, async (_, at) => {
      await bot.upload({ key: `${at}` }, 'the same')
      await bot.as().copyFile({ idOrKey: `${at}`, destinationKey: `copy ${at}` })
      await bot.as().deleteFile({ id: `${at}` })
    })
    await Promise.all(work)
    expect(await deadlocks()).toBe(0)
  })

  it.runIf(engine.name === 'postgres')('replace each other without a deadlock', async () => {
    const bot = bench().newBot()
    const keys = ['a', 'b', 'c']
    for (const key of keys) await bot.upload({ key }, key)
    const copies = Array.from({ length: 60 }, async (_, at) => {
      const idOrKey = keys[at % 3] ?? ''
      const destinationKey = keys[(at + 1 + (at % 2)) % 3] ?? ''
      await bot.as().copyFile({ idOrKey, destinationKey, overwrite: true })
    })
    await Promise.all(copies)
    expect(await deadlocks()).toBe(0)
  })

  async function deadlocks(): Promise<number> {
    const { rows } = await sql<{ deadlocks: unknown }>`
      select deadlocks from pg_stat_database where datname = current_database()
    `.execute(bench().database.db)
    return Number(rows[0]?.deadlocks)
  }
})
