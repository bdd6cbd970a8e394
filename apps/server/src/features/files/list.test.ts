import { beforeAll, describe, expect, it } from 'vitest'
import { describeEachEngine } from '../../../test/engines.js'
import { type TestBot, useFiles } from '../../../test/files.js'

describeEachEngine('the list of files', (engine) => {
  const bench = useFiles(engine)
  let bot: TestBot

  beforeAll(async () => {
    bot = bench().newBot()
    await bot.upload({ key: 'c.txt', tags: { kb: 'one', lang: 'de' } }, '333')
    await bot.upload({ key: 'a.txt', tags: { kb: 'two', lang: 'en' } }, '1')
    await bot.as().upsertFile({ key: 'b.txt', size: 9, tags: { 'a.b': 'dot', 'x[y]': 'b' } })
    await bot.uploadAndWait({ key: 'd.md', index: true, tags: { kb: 'one' } }, '# Title\n\nText.')
  })

  async function keysOf(query: string): Promise<string[]> {
    // Without a client, which would encode the query in its own way.
    const response = await fetch(
      `${bench().url}/v1/files?sortField=key&sortDirection=asc${query}`,
      {
        headers: { authorization: `Bearer ${JSON.stringify({ type: 'bot' })}`, 'x-bot-id': bot.id },
      },
    )
    const { files } = (await response.json()) as { files: { key: string }[] }
    return files.map(({ key }) => key.slice(0, 1))
  }

  describe('sorts', () => {
    it.each([
      ['key', 'asc', 'abcd'],
      ['key', 'desc', 'dcba'],
      ['size', 'asc', 'bacd'],
      ['createdAt', 'asc', 'cabd'],
      ['updatedAt', 'desc', 'dbac'],
      ['status', 'asc', 'dcab'],
    ] as const)('by %s, %s', async (sortField, sortDirection, expected) => {
      const { files } = await bot.as().listFiles({ sortField, sortDirection })
      const keys = files.map(({ key }) => key.slice(0, 1))
      // Equal values keep the order of the ids, which is that of creation.
      expect(keys.join('')).toBe(expected)
    })

    it('by creation, newest first, by default', async () => {
      const { files } = await bot.as().listFiles()
      expect(files.map(({ key }) => key.slice(0, 1)).join('')).toBe('dbac')
    })
  })

  it.each(['key', 'size', 'createdAt', 'updatedAt', 'status'] as const)(
    'returns pages that contain every file once, by %s',
    async (sortField) => {
      const keys: string[] = []
      let nextToken: string | undefined
      do {
        const page = await bot.as().listFiles({ pageSize: 1, sortField, nextToken })
        keys.push(...page.files.map(({ key }) => key))
        nextToken = page.meta.nextToken
      } while (nextToken !== undefined)
      expect(keys.toSorted()).toEqual(['a.txt', 'b.txt', 'c.txt', 'd.md'])
    },
  )

  it('accepts a page token only for the same list', async () => {
    const { meta } = await bot.as().listFiles({ pageSize: 1 })
    const { nextToken } = meta
    const others = [{ sortField: 'key' as const }, { indexed: true }, { tags: { kb: 'one' } }]
    for (const other of others) {
      await expect(bot.as().listFiles({ pageSize: 1, nextToken, ...other })).rejects.toMatchObject({
        type: 'InvalidQuery',
      })
    }
    await expect(bench().newBot().as().listFiles({ nextToken })).rejects.toMatchObject({
      type: 'InvalidQuery',
    })
  })

  it('contains only the requested ids', async () => {
    const { files } = await bot.as().listFiles()
    const ids = files.slice(1, 3).map(({ id }) => id)
    const listed = await bot.as().listFiles({ ids: [...ids, 'file_unknown'] })
    expect(listed.files.map(({ id }) => id)).toEqual(ids)
  })

  it('contains only indexed files, or only the others', async () => {
    expect(await keysOf('&indexed=true')).toEqual(['d'])
    expect(await keysOf('&indexed=false')).toEqual(['a', 'b', 'c'])
  })

  describe('by tags', () => {
    const json = (filter: unknown) => `&tags=${encodeURIComponent(JSON.stringify(filter))}`
    it.each([
      ['equal, with dots', '&tags.kb=one', 'cd'],
      ['equal, with brackets', '&tags[kb]=one', 'cd'],
      ['equal, encoded brackets', '&tags%5Bkb%5D=one', 'cd'],
      ['equal, as JSON', json({ kb: 'one' }), 'cd'],
      ['all of several', '&tags.kb=one&tags.lang=de', 'c'],
      ['one of, repeated', '&tags.kb=one&tags.kb=two', 'acd'],
      ['one of, with indices', '&tags[kb][0]=one&tags[kb][1]=two', 'acd'],
      ['one of, as JSON', json({ kb: ['one', 'two'] }), 'acd'],
      ['in one', '&tags.kb.in=two', 'a'],
      ['in several', '&tags.kb.in=one&tags.kb.in=two', 'acd'],
      ['in, with brackets', '&tags[kb][in][0]=one&tags[kb][in][1]=two', 'acd'],
      ['in, as JSON', json({ kb: { in: ['two'] } }), 'a'],
      ['in nothing', json({ kb: { in: [] } }), ''],
      ['not, which a file without the tag passes', '&tags.kb.not=one', 'ab'],
      ['not several', '&tags.kb.not=one&tags.kb.not=two', 'b'],
      ['not, with brackets', '&tags[lang][not]=en', 'bcd'],
      ['not nothing', json({ kb: { not: [] } }), 'abcd'],
      ['there', '&tags.lang.exists=true', 'ac'],
      ['not there', '&tags.lang.exists=false', 'bd'],
      ['there, as JSON', json({ lang: { exists: true } }), 'ac'],
      ['several conditions on one', json({ kb: { exists: true, not: 'two' } }), 'cd'],
      ['a name with a dot', '&tags.a.b=dot', 'b'],
      ['a name with brackets', '&tags.x%5By%5D=b', 'b'],
      ['an unknown name', '&tags.none=one', ''],
      ['another case', '&tags.kb=ONE', ''],
    ])('%s', async (_name, query, expected) => {
      expect((await keysOf(query)).join('')).toBe(expected)
    })
  })
})
