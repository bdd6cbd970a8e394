import { describe, expect, it } from 'vitest'
import { describeSlow } from '../../../test/engines.js'
import { integration, quotas, useFiles } from '../../../test/files.js'

describeSlow('the copy of a file', (engine) => {
  const bench = useFiles(engine)
  const read = async (url: string) => await (await fetch(url)).text()

  it('has the description of the file, and changes on its own', async () => {
    const bot = bench().newBot()
    const expiresAt = new Date(bench().clock.now() + 3_600_000).toISOString()
    const source = await bot.uploadAndWait(
      {
        key: 'a.md',
        index: true,
        tags: { lang: 'en' },
        metadata: { any: [1] },
        accessPolicies: ['public_content'],
        contentType: 'text/markdown; charset=utf-8',
        expiresAt,
      },
      '# A\n\nOne.',
    )
    const { file } = await bot.as().copyFile({ idOrKey: 'a.md', destinationKey: 'b' })
    const copy = await bot.awaitStatus(file.id, 'indexing_completed')
    expect(copy).toEqual({
      ...source,
      id: file.id,
      key: 'b',
      url: `${bench().url}/content/${file.id}`,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    await bot.upload({ key: 'a.md' }, 'changed')
    expect(await read(copy.url)).toBe('# A\n\nOne.')
    const { passages } = await bot.as().searchFiles({ query: 'one' })
    expect(passages.map(({ file: found }) => found.id)).toEqual([copy.id])
  })

  it('has the passages of the file, without reading its content', async () => {
    const bot = bench().newBot()
    const source = await bot.uploadAndWait({ key: 'a.md', index: true }, '# A\n\nOne word.')
    const { blob_key } = await bench()
      .database.db.selectFrom('file_contents')
      .select('blob_key')
      .where('file_id', '=', source.id)
      .executeTakeFirstOrThrow()
    await bench().blobs.remove(blob_key ?? '')
    const { file } = await bot.as().copyFile({ idOrKey: source.id, destinationKey: 'b.md' })
    await bot.awaitStatus(file.id, 'indexing_completed')
    const { passages } = await bot.as().searchFiles({ query: 'word' })
    expect(passages.map(({ content, meta }) => ({ content, meta }))).toEqual(
      Array(2).fill({ content: '# A\n\nOne word.', meta: expect.any(Object) }),
    )
  })

  it('is indexed again when the passages of the file are gone', async () => {
    const bot = bench().newBot()
    await bot.uploadAndWait({ key: 'a.md', index: true }, '# A\n\nOne word.')
    await bench().pauseJobs()
    const { file } = await bot.as().copyFile({ idOrKey: 'a.md', destinationKey: 'b.md' })
    expect(file.status).toBe('indexing_pending')
    await bot.as().deleteFile({ id: 'a.md' })
    bench().startJobs()
    await bot.awaitStatus(file.id, 'indexing_completed')
    const { passages } = await bot.as().searchFiles({ query: 'word' })
    expect(passages.map(({ file: found }) => found.id)).toEqual([file.id])
  })

  it('needs a content, and another key', async () => {
    const bot = bench().newBot()
    const client = bot.as()
    await client.upsertFile({ key: 'empty', size: 3 })
    await expect(client.copyFile({ idOrKey: 'empty', destinationKey: 'b' })).rejects.toMatchObject({
      type: 'ResourceLockedConflict',
    })
    await bot.upload({ key: 'a' }, 'x')
    const onItself = { idOrKey: 'a', destinationKey: 'a', overwrite: true }
    await expect(client.copyFile(onItself)).rejects.toMatchObject({
      type: 'InvalidPayload',
      message: expect.stringContaining('params.destinationKey'),
    })
    const tooLong = { idOrKey: 'a', destinationKey: '庑'.repeat(683) }
    await expect(client.copyFile(tooLong)).rejects.toMatchObject({
      type: 'InvalidPayload',
      message: 'params.destinationKey must have at most 2048 bytes of UTF-8.',
    })
  })

  it('has the served content, not a pending one', async () => {
    const bot = bench().newBot()
    await bot.upload({ key: 'a', accessPolicies: [] }, 'served')
    await bot.as().upsertFile({ key: 'a', size: 9, accessPolicies: ['public_content'] })
    const { file } = await bot.as().copyFile({ idOrKey: 'a', destinationKey: 'b' })
    expect(file).toMatchObject({ size: 6, accessPolicies: [], status: 'upload_completed' })
    expect(await read(file.url)).toBe('served')
  })

  it('is made once by concurrent copies to one key, unless they overwrite', async () => {
    const bot = bench().newBot()
    await bot.upload({ key: 'a' }, 'x')
    const all = (overwrite: boolean, destinationKey: string) =>
      Promise.allSettled(
        Array.from({ length: 6 }, () =>
          bot.as().copyFile({ idOrKey: 'a', destinationKey, overwrite }),
        ),
      )
    const once = await all(false, 'b')
    expect(once.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const made of once) {
      if (made.status === 'rejected') expect(made.reason).toMatchObject({ type: 'AlreadyExists' })
    }
    expect((await all(true, 'c')).map(({ status }) => status)).toEqual(Array(6).fill('fulfilled'))
  })

  it('is made once when the call is repeated with its key', async () => {
    const bot = bench().newBot()
    const other = bench().newBot({ workspaceOf: bot })
    await bot.upload({ key: 'a' }, 'x')
    const call = (headers: Record<string, string> = {}) =>
      bot.as().copyFile({ idOrKey: 'a', destinationKey: 'b' }, { idempotencyKey: 'k', headers })
    const first = await call()
    expect((await call()).file.id).toBe(first.file.id)
    await expect(call({ 'x-destination-bot-id': other.id })).rejects.toMatchObject({
      type: 'AlreadyExists',
      message: expect.stringContaining('Idempotency-Key'),
    })
  })

  it('counts in the workspace of its bot', async () => {
    const bot = bench().newBot()
    const half = new Uint8Array(quotas.storage / 2)
    await bot.upload({ key: 'a' }, half)
    await bot.as().copyFile({ idOrKey: 'a', destinationKey: 'b' })
    await expect(bot.as().copyFile({ idOrKey: 'a', destinationKey: 'c' })).rejects.toMatchObject({
      type: 'QuotaExceeded',
      metadata: { quota: 'storage', used: quotas.storage, asked: quotas.storage / 2 },
    })
    await expect(bot.as().getFile({ id: 'c' })).rejects.toMatchObject({ type: 'ResourceNotFound' })
    await bot.as().copyFile({ idOrKey: 'a', destinationKey: 'b', overwrite: true })
  })

  describe('with the key of a bot', () => {
    it('replaces only what the same caller made', async () => {
      const bot = bench().newBot()
      const user = { type: 'user', id: 'user_1', role: undefined } as const
      await bot.upload({ key: 'a' }, 'x')
      await bot.upload({ key: 'users' }, 'y', user)
      const onto = { idOrKey: 'a', destinationKey: 'users', overwrite: true }
      await expect(bot.as().copyFile(onto)).rejects.toMatchObject({ type: 'Forbidden' })
      await bot.as(user).copyFile(onto)
      const { file } = await bot.as().getFile({ id: 'users' })
      expect([await read(file.url), file.owner]).toEqual(['x', { type: 'user', id: 'user_1' }])
    })
  })

  describe('by an integration', () => {
    it('belongs to the integration, which can copy only what it may read', async () => {
      const bot = bench().newBot()
      await bot.upload({ key: 'hidden' }, 'x')
      const client = bot.as(integration('i1'))
      const copy = { idOrKey: 'hidden', destinationKey: 'hidden' }
      await expect(client.copyFile(copy)).rejects.toMatchObject({ type: 'ResourceNotFound' })
      // The latest upsert is shared, but the content that is served was not.
      await bot.as().upsertFile({ key: 'hidden', size: 1, accessPolicies: ['integrations'] })
      await expect(client.copyFile(copy)).rejects.toMatchObject({
        type: 'ResourceLockedConflict',
      })
      await bot.upload({ key: 'hidden', accessPolicies: ['integrations'] }, 'z')
      const { file } = await client.copyFile(copy)
      expect(file).toMatchObject({ key: 'hidden', owner: { type: 'integration' } })
      expect((await bot.as().listFiles()).files).toHaveLength(2)
    })
  })

  describe('into another bot', () => {
    it('shares the bytes, also when the first bot goes', async () => {
      const bot = bench().newBot()
      const other = bench().newBot({ workspaceOf: bot })
      const source = await bot.uploadAndWait({ key: 'a.md', index: true }, '# A\n\nOne word.')
      const { file } = await bot
        .as()
        .copyFile(
          { idOrKey: source.id, destinationKey: 'a.md' },
          { headers: { 'x-destination-bot-id': other.id } },
        )
      expect(file).toMatchObject({ botId: other.id, owner: { type: 'bot', id: other.id } })
      await other.awaitStatus(file.id, 'indexing_completed')
      bench().forgetBot(bot)
      await bench().search.purge(bot.id)
      await bench().files.purge(bot.id)
      const { file: left } = await other.as().getFile({ id: file.id })
      expect(await read(left.url)).toBe('# A\n\nOne word.')
      expect((await other.as().searchFiles({ query: 'word' })).passages).toHaveLength(1)
      await other.as().deleteFile({ id: file.id })
      const blobs = bench().database.db.selectFrom('file_blobs').select('uses')
      expect(await blobs.where('bot_id', '=', bot.id).execute()).toEqual([])
    })

    it('is refused where the token may not write', async () => {
      const bot = bench().newBot()
      await bot.upload({ key: 'a' }, 'x')
      for (const id of [bench().newBot().id, 'nothing']) {
        const headers = { 'x-destination-bot-id': id }
        const call = bot.as().copyFile({ idOrKey: 'a', destinationKey: 'b' }, { headers })
        await expect(call).rejects.toMatchObject({
          type: 'Forbidden',
          message: expect.stringContaining('x-destination-bot-id'),
        })
      }
    })
  })
})
