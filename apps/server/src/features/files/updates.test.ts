import { expect, it } from 'vitest'
import { describeEachEngine } from '../../../test/engines.js'
import { integration, useFiles } from '../../../test/files.js'

describeEachEngine('the description of a file', (engine) => {
  const bench = useFiles(engine)
  const many = (count: number, prefix = 't') =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, 'x']))

  it('is unchanged by an empty update, which is logged', async () => {
    const bot = bench().newBot()
    const file = await bot.upload({ key: 'a', tags: { a: 'b' }, metadata: { c: 1 } }, 'x')
    const { file: same } = await bot.as().updateFileMetadata({ id: 'a' })
    expect(same).toEqual({
      ...file,
      url: expect.any(String),
      updatedAt: expect.any(String),
    })
  })

  it('is limited to as many tags and metadata as one upsert may contain', async () => {
    const bot = bench().newBot()
    const client = bot.as()
    const { file } = await client.upsertFile({ key: 'a', size: 0, tags: many(200) })
    const id = file.id
    await expect(client.updateFileMetadata({ id, tags: { more: 'x' } })).rejects.toMatchObject({
      type: 'LimitExceeded',
      message: 'body.tags must leave the file with at most 200 entries; it would have 201.',
    })
    await client.updateFileMetadata({ id, tags: { more: 'x', t0: null } })
    await client.updateFileMetadata({ id, metadata: many(1000, 'm') })
    await expect(client.updateFileMetadata({ id, metadata: { more: 1 } })).rejects.toMatchObject({
      type: 'LimitExceeded',
    })
    const large = 'x'.repeat(600_000)
    await client.updateFileMetadata({ id, metadata: { m0: large } })
    await expect(client.updateFileMetadata({ id, metadata: { m1: large } })).rejects.toMatchObject({
      type: 'LimitExceeded',
      message: expect.stringContaining('body.metadata'),
    })
    await expect(
      client.updateFileMetadata({ id, tags: { ['🙂'.repeat(100)]: '🙂'.repeat(250), t1: null } }),
    ).resolves.toBeDefined()
  })

  it('follows the expiry rules of an upsert, and can stop expiring', async () => {
    const bot = bench().newBot()
    const client = bot.as()
    const at = (minutes: number) => new Date(bench().clock.now() + minutes * 60_000).toISOString()
    const { file } = await client.upsertFile({ key: 'a', size: 0, expiresAt: at(10) })
    const { id } = file
    for (const expiresAt of [at(-1), at(91 * 24 * 60)]) {
      await expect(client.updateFileMetadata({ id, expiresAt })).rejects.toMatchObject({
        type: 'InvalidPayload',
        message: expect.stringContaining('body.expiresAt'),
      })
    }
    await client.updateFileMetadata({ id, expiresAt: null })
    await client.upsertFile({ key: 'b', size: 0 })
    await client.updateFileMetadata({ id: 'b', expiresAt: at(5) })
    bench().clock.advance(20 * 60_000)
    expect((await client.listFiles()).files.map(({ key }) => key)).toEqual(['a'])
  })

  it('shares the file and its passages with integrations, and stops sharing', async () => {
    const bot = bench().newBot()
    const other = bot.as(integration('i1'))
    await bot.uploadAndWait({ key: 'a.md', index: true }, '# A\n\nOne word.')
    const found = async () => (await other.searchFiles({ query: 'word' })).passages.length
    expect(await found()).toBe(0)
    await bot.as().updateFileMetadata({ id: 'a.md', accessPolicies: ['integrations'] })
    expect(await found()).toBe(1)
    expect((await other.getFile({ id: 'a.md' })).file.accessPolicies).toEqual(['integrations'])
    await expect(
      other.updateFileMetadata({ id: 'a.md', tags: { taken: 'yes' } }),
    ).rejects.toMatchObject({ type: 'Forbidden', message: expect.stringContaining('its own') })
    await bot.as().updateFileMetadata({ id: 'a.md', accessPolicies: [] })
    expect(await found()).toBe(0)
    await expect(other.getFile({ id: 'a.md' })).rejects.toMatchObject({ type: 'ResourceNotFound' })
  })

  it('keeps every one of many concurrent changes', async () => {
    const bot = bench().newBot()
    await bot.as().upsertFile({ key: 'a', size: 0 })
    const names = Array.from({ length: 8 }, (_, at) => `t${at}`)
    await Promise.all(
      names.map((name) => bot.as().updateFileMetadata({ id: 'a', tags: { [name]: 'x' } })),
    )
    const { file } = await bot.as().getFile({ id: 'a' })
    expect(Object.keys(file.tags).toSorted()).toEqual(names)
    expect((await bot.as().listFileTags()).tags).toEqual(names)
  })
})
