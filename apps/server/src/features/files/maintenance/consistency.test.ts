import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { type TestBot, useFiles } from '../../../../test/files.js'
import { checkFiles } from './consistency.js'

const day = 24 * 60 * 60 * 1000

describeSlow('the check of files', (engine) => {
  const bench = useFiles(engine)
  const check = async (repair = false, contents = false, blobs = bench().blobs) => {
    const { database, clock } = bench()
    const findings = []
    const deps = { db: database.db, run: database.run, clock, blobs }
    for await (const finding of checkFiles(deps, { repair, contents })) findings.push(finding)
    return findings
  }
  const blobOf = async (fileId: string) => {
    const { blob_key } = await bench()
      .database.db.selectFrom('file_contents')
      .select('blob_key')
      .where('file_id', '=', fileId)
      .executeTakeFirstOrThrow()
    return blob_key ?? ''
  }
  const contentOf = async (bot: TestBot, id: string) =>
    await (await fetch((await bot.as().getFile({ id })).file.url)).text()

  it('finds nothing on consistent data, also while files are created and deleted', async () => {
    const bot = bench().newBot()
    await bot.uploadAndWait({ key: 'a.md', index: true }, '# A\n\nOne.')
    await bot.as().copyFile({ idOrKey: 'a.md', destinationKey: 'b.md' })
    await bot.as().upsertFile({ key: 'c', size: 5 })
    expect(await check()).toEqual([])
    const busy = Promise.all(
      Array.from({ length: 5 }, async (_, at) => {
        await bot.upload({ key: `${at}` }, 'the same')
        await bot.as().copyFile({ idOrKey: `${at}`, destinationKey: `copy ${at}` })
        await bot.as().deleteFile({ id: `${at}` })
      }),
    )
    expect(await check(true)).toEqual([])
    await busy
    expect(await check()).toEqual([])
  })

  it('reports each difference, and repairs what is not lost', async () => {
    const bot = bench().newBot()
    await bench().pauseJobs()
    const file = await bot.upload({ key: 'a' }, 'one')
    await bot.upload({ key: 'b' }, 'other')
    const { run } = bench().database
    const blobKey = await blobOf(file.id)
    await run(async (tx) => {
      await tx.updateTable('file_usage').set({ storage_bytes: 99 }).execute()
      await tx.updateTable('file_blobs').set({ uses: 7 }).where('blob_key', '=', blobKey).execute()
      const left = { sha256: 'left', bot_id: bot.id, size: 4, uses: 1, blob_key: 'left-over' }
      await tx.insertInto('file_blobs').values(left).execute()
    })
    await bench().blobs.put('left-over', Readable.from([Buffer.from('left')]))
    await bench().blobs.put('nobodys-blob', Readable.from([Buffer.from('x')]))
    bench().clock.advance(2 * day)

    const found = await check()
    expect(found).toContainEqual({
      kind: 'usage',
      text: `workspace ${bot.workspaceId}: 99 bytes of files and 0 indexed are counted, but its files have 8 and 0`,
      repaired: false,
    })
    const expected = ['blob uses', 'blob uses', 'orphan blob']
    expect(found.map(({ kind }) => kind).filter((kind) => kind !== 'usage')).toEqual(expected)
    expect(await check()).toEqual(found)

    expect(await check(true)).toEqual(found.map((finding) => ({ ...finding, repaired: true })))
    expect(await check()).toEqual([])
    expect(await bench().blobs.head('nobodys-blob')).toBeUndefined()
    expect(await (await fetch((await bot.as().getFile({ id: 'a' })).file.url)).text()).toBe('one')
    bench().startJobs()
  })

  it('does not report a blob that the sweeper removes after it was listed', async () => {
    const { blobs, clock } = bench()
    await blobs.put('soon-removed', Readable.from([Buffer.from('x')]))
    clock.advance(2 * day)
    const whileSwept = {
      ...blobs,
      async *list() {
        yield* blobs.list()
        await blobs.remove('soon-removed')
      },
    }
    expect(await check(false, false, whileSwept)).toEqual([])
  })

  it('counts every file again, and removes contents without a file', async () => {
    const bot = bench().newBot()
    const file = await bot.upload({ key: 'a' }, 'one')
    const gone = await bot.upload({ key: 'b' }, 'other')
    const { run } = bench().database
    await run(async (tx) => {
      await tx.updateTable('files').set({ counted_storage: 1 }).where('id', '=', file.id).execute()
      await tx.deleteFrom('files').where('id', '=', gone.id).execute()
    })
    const found = await check()
    expect(found.map(({ text }) => text)).toEqual([
      `generation 1 of file ${gone.id}, 5 bytes: bot ${bot.id} has no such file`,
      `file a of bot ${bot.id}: 1 bytes and 0 indexed are counted, but its contents have 3 and 0`,
      `workspace ${bot.workspaceId}: 8 bytes of files and 0 indexed are counted, but its files have 1 and 0`,
      `bot ${bot.id}: 8 bytes of files and 0 indexed in 0 files are counted, but its files have 1 and 0 in 0`,
    ])
    const kinds = (await check(true)).map(({ kind, repaired }) => [kind, repaired])
    expect(kinds).toEqual([
      ['content without file', true],
      ['file size', true],
      ['usage', true],
      ['usage', true],
    ])
    expect(await check()).toEqual([])
    expect(await contentOf(bot, 'a')).toBe('one')
  })

  it('names the files of a lost content, which is restored in all of them once it is sent again', async () => {
    const bot = bench().newBot()
    const { id } = await bot.upload({ key: 'a' }, 'lost')
    await bot.as().copyFile({ idOrKey: 'a', destinationKey: 'c' })
    const blobKey = await blobOf(id)
    const names = `a of bot ${bot.id}, c of bot ${bot.id}`
    for (const [text, lose] of [
      ['its 4 bytes are gone', () => bench().blobs.remove(blobKey)],
      ['it has 2 bytes, but 4 were uploaded', () => put(blobKey, 'lo')],
    ] as const) {
      await lose()
      expect(await check(true)).toEqual([
        {
          kind: text.startsWith('its') ? 'missing blob' : 'wrong size',
          text: `blob ${blobKey}: ${text}; send the content again to one of: ${names}`,
          repaired: false,
        },
      ])
      const { file } = await bot.as().getFile({ id: 'c' })
      expect((await fetch(file.url, { method: 'HEAD' })).status).toBe(410)
    }

    await bot.upload({ key: 'b' }, 'lost')
    expect(await check()).toEqual([])
    for (const key of ['a', 'b', 'c']) expect(await contentOf(bot, key)).toBe('lost')
    for (const key of ['a', 'b']) await bot.as().deleteFile({ id: key })
    expect(await contentOf(bot, 'c')).toBe('lost')
  })

  it('reads the contents on request, and finds corrupted bytes', async () => {
    const bot = bench().newBot()
    const { id } = await bot.upload({ key: 'a' }, 'good')
    const blobKey = await blobOf(id)
    await put(blobKey, 'goof')
    expect(await check()).toEqual([])
    const [found, ...more] = await check(false, true)
    expect([found?.kind, more]).toEqual(['wrong bytes', []])
    expect(found?.text).toMatch(`delete these files and send them again: a of bot ${bot.id}`)
    await bot.as().deleteFile({ id })
    await bot.upload({ key: 'a' }, 'good')
    expect(await contentOf(bot, 'a')).toBe('good')
    expect(await check(false, true)).toEqual([])
  })

  const put = (key: string, text: string) =>
    bench().blobs.put(key, Readable.from([Buffer.from(text)]))
})
