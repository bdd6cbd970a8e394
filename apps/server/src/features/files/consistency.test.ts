import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { describeEachEngine } from '../../../test/engines.js'
import { useFiles } from '../../../test/files.js'
import { checkFiles } from './consistency.js'

const day = 24 * 60 * 60 * 1000

describeEachEngine('the check of files', (engine) => {
  const bench = useFiles(engine)
  const check = async (repair = false) => {
    const { database, clock, blobs } = bench()
    const findings = []
    const deps = { db: database.db, run: database.run, clock, blobs }
    for await (const finding of checkFiles(deps, { repair })) findings.push(finding)
    return findings
  }
  const kinds = async (repair?: boolean) => (await check(repair)).map(({ kind }) => kind)

  it('finds nothing where all is well, also while files come and go', async () => {
    const bot = bench().newBot()
    await bot.uploadAndWait({ key: 'a.md', index: true }, '# A\n\nOne.')
    await bot.as().copyFile({ idOrKey: 'a.md', destinationKey: 'b.md' })
    await bot.as().upsertFile({ key: 'c', size: 5 })
    expect(await check()).toEqual([])
    const busy = Promise.all(
      Array.from({ length: 10 }, async (_, at) => {
        await bot.upload({ key: `${at}` }, 'the same')
        await bot.as().copyFile({ idOrKey: `${at}`, destinationKey: `copy ${at}` })
        await bot.as().deleteFile({ id: `${at}` })
      }),
    )
    expect(await check(true)).toEqual([])
    await busy
    expect(await check()).toEqual([])
  })

  it('tells each difference, and puts right what is not lost', async () => {
    const bot = bench().newBot()
    await bench().pauseJobs()
    const file = await bot.upload({ key: 'a' }, 'one')
    await bot.upload({ key: 'b' }, 'other')
    const { db, run } = bench().database
    const { blob_key } = await db
      .selectFrom('file_contents')
      .select('blob_key')
      .where('file_id', '=', file.id)
      .executeTakeFirstOrThrow()
    const blobKey = blob_key ?? ''
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

    await bench().blobs.remove(blobKey)
    expect(await kinds(true)).toEqual(['missing blob'])
    expect(await kinds()).toEqual(['missing blob'])
    bench().startJobs()
  })
})
