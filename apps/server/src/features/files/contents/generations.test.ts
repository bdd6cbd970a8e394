import { expect, it } from 'vitest'
import { describeSlow } from '../../../../test/engines.js'
import { integration, send, type TestBot, useFiles } from '../../../../test/files.js'

const old = '# Pump\n\nThe old pump is blue.'
const next = '# Pump\n\nThe next pump is green.'

describeSlow('a file that is replaced', (engine) => {
  const bench = useFiles(engine)

  async function read(bot: TestBot, key: string): Promise<string> {
    const { file } = await bot.as().getFile({ id: key })
    return await (await fetch(file.url)).text()
  }

  async function find(bot: TestBot, caller?: ReturnType<typeof integration>): Promise<string[]> {
    const { passages } = await bot.as(caller).searchFiles({ query: 'pump', contextDepth: 0 })
    return passages.map(({ content }) => content)
  }

  it('serves the old content and passages until the new ones are complete', async () => {
    const bot = bench().newBot()
    await bot.uploadAndWait({ key: 'a.md', index: true }, old)
    const { file } = await bot.as().upsertFile({ key: 'a.md', index: true, size: next.length })
    expect(file).toMatchObject({ status: 'upload_pending', size: next.length })
    expect((await bot.as().getFile({ id: 'a.md' })).file.size).toBeNull()
    expect(await read(bot, 'a.md')).toBe(old)
    expect(await find(bot)).toEqual([expect.stringContaining('blue')])

    await bench().pauseJobs()
    await send(file.uploadUrl, next)
    expect((await bot.as().getFile({ id: 'a.md' })).file.status).toBe('indexing_pending')
    expect(await read(bot, 'a.md')).toBe(old)
    expect(await find(bot)).toEqual([expect.stringContaining('blue')])

    bench().startJobs()
    await bot.awaitStatus('a.md', 'indexing_completed')
    expect(await read(bot, 'a.md')).toBe(next)
    expect(await find(bot)).toEqual([expect.stringContaining('green')])
  })

  it('never serves both or neither during the change', async () => {
    const bot = bench().newBot()
    await bot.uploadAndWait({ key: 'a.md', index: true }, old)
    await bot.upload({ key: 'a.md', index: true }, next)
    const seen = new Set<string>()
    while (!seen.has(next)) {
      const found = await find(bot)
      expect(found).toHaveLength(1)
      seen.add(found[0] ?? '')
    }
    expect(seen.size).toBeLessThanOrEqual(2)
  })

  it('keeps the old content when the upload of the new one fails', async () => {
    const bot = bench().newBot()
    await bot.uploadAndWait({ key: 'a.md', index: true }, old)
    const { file } = await bot.as().upsertFile({ key: 'a.md', index: true, size: 1 })
    await send(file.uploadUrl, next)
    expect((await bot.as().getFile({ id: 'a.md' })).file.status).toBe('upload_failed')
    expect(await read(bot, 'a.md')).toBe(old)
    expect(await find(bot)).toHaveLength(1)
  })

  it('has no passages when the new content has none', async () => {
    const bot = bench().newBot()
    await bot.uploadAndWait({ key: 'a.md', index: true }, old)
    const failed = await bot.uploadAndWait(
      { key: 'a.md', contentType: 'application/zip', index: true },
      'PK\x03\x04',
    )
    expect(failed).toMatchObject({
      status: 'indexing_failed',
      failedStatusReason: expect.stringContaining('Unpack the archive'),
    })
    expect(await read(bot, 'a.md')).toBe('PK\x03\x04')
    expect(await find(bot)).toEqual([])
  })

  it('has no passages when the new content is not to be indexed', async () => {
    const bot = bench().newBot()
    await bot.uploadAndWait({ key: 'a.md', index: true }, old)
    expect(await bot.upload({ key: 'a.md' }, next)).toMatchObject({ status: 'upload_completed' })
    expect(await find(bot)).toEqual([])
    expect(await read(bot, 'a.md')).toBe(next)
  })

  it('recovers when it is replaced faster than it is indexed', async () => {
    const bot = bench().newBot()
    await bench().pauseJobs()
    for (const word of ['one', 'two', 'three']) {
      await bot.upload({ key: 'a.md', index: true }, `# Pump\n\nNumber ${word}.`)
    }
    bench().startJobs()
    await bot.awaitStatus('a.md', 'indexing_completed')
    expect(await find(bot)).toEqual([expect.stringContaining('three')])
    expect(await read(bot, 'a.md')).toContain('three')
  })

  it('is not made public by the policies of its next content', async () => {
    const bot = bench().newBot()
    const { id } = await bot.uploadAndWait({ key: 'a.md', index: true }, old)
    const address = `${bench().url}/content/${id}`
    const open = { accessPolicies: ['public_content' as const, 'integrations' as const] }
    const caller = integration('i1')
    await bot.as().upsertFile({ key: 'a.md', index: true, size: next.length, ...open })
    expect((await fetch(address)).status).toBe(404)
    expect(await find(bot, caller)).toEqual([])

    await bot.uploadAndWait({ key: 'a.md', index: true, ...open }, next)
    expect(await (await fetch(address)).text()).toBe(next)
    expect(await find(bot, caller)).toHaveLength(1)

    await bot.as().upsertFile({ key: 'a.md', index: true, size: 1 })
    expect((await fetch(address)).status).toBe(404)
    expect(await find(bot, caller)).toEqual([])
  })

  it('refuses an upload that was superseded, and keeps nothing of it', async () => {
    const bot = bench().newBot()
    const { file } = await bot.as().upsertFile({ key: 'a.txt', size: 6 })
    let finish = (): void => undefined
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(Buffer.from('abc'))
        finish = () => {
          controller.enqueue(Buffer.from('def'))
          controller.close()
        }
      },
    })
    const init: RequestInit & { duplex: string } = { method: 'PUT', body, duplex: 'half' }
    const overtaken = fetch(file.uploadUrl, init)
    await bot.upload({ key: 'a.txt' }, 'winner')
    finish()
    expect((await overtaken).status).toBe(410)
    expect(await read(bot, 'a.txt')).toBe('winner')
  })

  it('logs one event for each change', async () => {
    const bot = bench().newBot()
    const file = await bot.uploadAndWait({ key: 'a.md', index: true }, old)
    const { file: upserted } = await bot.as().upsertFile({ key: 'a.md', size: 1 })
    await send(upserted.uploadUrl, 'too long')
    await bot.upload({ key: 'a.md' }, next)
    await bot.as().deleteFile({ id: 'a.md' })
    const events = await bench()
      .database.db.selectFrom('events')
      .select(['sequence', 'type', 'subject_id'])
      .where('stream', '=', `files:${bot.id}`)
      .orderBy('sequence')
      .execute()
    expect(events.map(({ type }) => type)).toEqual([
      'file_created',
      'file_upload_completed',
      'file_indexing_completed',
      'file_updated',
      'file_upload_failed',
      'file_updated',
      'file_upload_completed',
      'file_deleted',
    ])
    expect(new Set(events.map(({ subject_id }) => subject_id))).toEqual(new Set([file.id]))
  })
})
