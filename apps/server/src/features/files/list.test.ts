import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { describeSlow } from '../../../test/engines.js'
import { integration, type TestBot, useFiles } from '../../../test/files.js'

describeSlow('the list of files', (engine) => {
  const bench = useFiles(engine)
  let bot: TestBot

  beforeAll(async () => {
    bot = bench().newBot()
    await bot.upload({ key: 'c.txt', tags: { kb: 'one', lang: 'de' } }, '333')
    await bot.upload({ key: 'a.txt', tags: { kb: 'two', lang: 'en' } }, '1')
    await bot.as().upsertFile({ key: 'b.txt', size: 9, tags: { 'a.b': 'dot', 'x[y]': 'b' } })
    await bot.uploadAndWait({ key: 'd.md', index: true, tags: { kb: 'one' } }, '# Title\n\nText.')
  })

  async function answerTo(query: string): Promise<unknown> {
    // Without a client, which would encode the query in its own way.
    const response = await fetch(
      `${bench().url}/v1/files?sortField=key&sortDirection=asc${query}`,
      {
        headers: { authorization: `Bearer ${JSON.stringify({ type: 'bot' })}`, 'x-bot-id': bot.id },
      },
    )
    return await response.json()
  }

  async function keysOf(query: string): Promise<string[]> {
    const { files } = (await answerTo(query)) as { files: { key: string }[] }
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
    const others = [
      { sortField: 'key' as const },
      { indexed: true },
      { tags: { kb: 'one' } },
      { prefix: 'a' },
      { status: ['upload_pending' as const] },
    ]
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

  it.each([
    ['&status=upload_pending', 'b'],
    ['&status=upload_completed&status=indexing_completed', 'acd'],
    ['&prefix=a', 'a'],
    ['&prefix=A', ''],
    ['&prefix=', 'abcd'],
    ['&text=TXT', 'abc'],
    ['&text=%25', ''],
    ['&text=.txt&status=upload_pending', 'b'],
  ])('contains only what matches %s', async (query, expected) => {
    expect((await keysOf(query)).join('')).toBe(expected)
  })

  describe('by folders', () => {
    /** Keys from few characters, so that folders meet; some are beyond the basic plane. */
    const key = fc
      .array(fc.constantFrom('a', 'B', '/', '0', '%', '🙂', 'ä'), { minLength: 1, maxLength: 8 })
      .map((characters) => characters.join(''))

    async function foldersOf(owner: TestBot, prefix: string | undefined) {
      const folders: { prefix: string; files: number }[] = []
      let nextToken: string | undefined
      do {
        const page = await owner.as().listFileFolders({ prefix, pageSize: 2, nextToken })
        folders.push(...page.folders)
        nextToken = page.meta.nextToken
      } while (nextToken !== undefined)
      return folders
    }

    it('counts the files below each, page by page', async () => {
      const property = fc.asyncProperty(
        fc.uniqueArray(key, { minLength: 1, maxLength: 12 }),
        fc.option(key, { nil: undefined }),
        async (keys, prefix = '') => {
          const owner = bench().newBot()
          for (const each of keys) await owner.as().upsertFile({ key: each, size: 1 })
          const counts = new Map<string, number>()
          for (const each of keys.filter((one) => one.startsWith(prefix))) {
            const end = each.indexOf('/', prefix.length)
            if (end < 0) continue
            const folder = each.slice(0, end + 1)
            counts.set(folder, (counts.get(folder) ?? 0) + 1)
          }
          const expected = [...counts]
            .map(([prefix, files]) => ({ prefix, files }))
            .sort((a, b) => Buffer.compare(Buffer.from(a.prefix), Buffer.from(b.prefix)))
          expect(await foldersOf(owner, prefix)).toEqual(expected)
          const { files } = await owner.as().listFiles({ prefix, pageSize: 100 })
          expect(files.map((file) => file.key).toSorted()).toEqual(
            keys.filter((one) => one.startsWith(prefix)).toSorted(),
          )
        },
      )
      await fc.assert(property, { numRuns: 25 })
    })

    it('hides files that the caller does not see', async () => {
      const owner = bench().newBot()
      await owner.as().upsertFile({ key: 'private/a', size: 1 })
      await owner.as().upsertFile({ key: 'shared/a', size: 1, accessPolicies: ['integrations'] })
      const { folders } = await owner.as(integration('int_1')).listFileFolders()
      expect(folders).toEqual([{ prefix: 'shared/', files: 1 }])
      expect((await bench().newBot().as().listFileFolders()).folders).toEqual([])
    })
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

    it.each([
      ['as JSON', json({ kb: { except: 'one' } })],
      ['beside another', json({ kb: { exists: true, except: 'one' } })],
    ])('refuses an unknown condition, %s', async (_name, query) => {
      expect(await answerTo(query)).toMatchObject({
        type: 'InvalidQuery',
        message: 'query.tags.kb.except is a member that is not known.',
      })
    })
  })
})
