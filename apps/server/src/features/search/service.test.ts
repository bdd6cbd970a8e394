import { beforeAll, describe, expect, it } from 'vitest'
import { describeEachEngine } from '../../../test/engines.js'
import { integration, type TestBot, useFiles } from '../../../test/files.js'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Makes passages as small as possible, so that neighbours are distinct. */
const small = {
  configuration: {
    parsing: { minimumParagraphLength: 0 },
    chunking: { maximumChunkLength: 64 },
  },
}

const manual = `# Pump

The pump moves water.

## Start

Turn the red valve to the left.

Wait for ten seconds.

## Stop

Push the button.

### Emergency

Pull the lever. Then call help.
`
const [title, start, wait, stop, emergency] = [
  '# Pump\n\nThe pump moves water.',
  '## Start\n\nTurn the red valve to the left.',
  'Wait for ten seconds.',
  '## Stop\n\nPush the button.',
  '### Emergency\n\nPull the lever. Then call help.',
]

const page = `<!doctype html><html><head><title>Handbuch</title></head><body>
<h1>Wartung</h1><p>Die Straße führt zur Brücke.</p>
<h2>Filter</h2><p>Der Filter wird jährlich getauscht.</p></body></html>`

describeEachEngine('search', (engine) => {
  const bench = useFiles(engine)
  let bot: TestBot

  beforeAll(async () => {
    bot = bench().newBot()
    await bot.uploadAndWait(
      { key: 'pump.md', index: true, indexing: small, tags: { kb: 'en' }, metadata: { a: 1 } },
      manual,
    )
    await bot.uploadAndWait({ key: 'wartung.html', index: true, tags: { kb: 'de' } }, page)
    await bot.uploadAndWait(
      { key: '河流.txt', index: true, tags: { kb: 'zh' }, accessPolicies: ['integrations'] },
      '黄河是中国第二长河。\n\n它流经九个省份，最后流入渤海。',
    )
    await bot.upload({ key: 'plain.md' }, '# Valve\n\nNot to be found.')
  })

  async function search(query: string, options: Parameters<typeof input>[1] = {}) {
    return (await bot.as().searchFiles(input(query, options))).passages
  }

  describe('a passage', () => {
    it('has its kind, its position and its file', async () => {
      const passages = await search('red valve', { contextDepth: 0 })
      const { file } = await bot.as().getFile({ id: 'pump.md' })
      expect(passages).toEqual([
        {
          content: start,
          score: expect.any(Number),
          meta: { type: 'chunk', subtype: 'subtitle', position: 1 },
          file: {
            id: file.id,
            key: 'pump.md',
            contentType: 'text/markdown',
            metadata: { a: 1, indexing: small },
            tags: { kb: 'en' },
            createdAt: file.createdAt,
            updatedAt: file.updatedAt,
          },
        },
      ])
    })

    it.each([
      ['an English question', 'Which valve do I turn?', 'pump.md'],
      ['a German question', 'Wann tauscht man den FILTER? jährlich', 'wartung.html'],
      ['German without its letters', 'strasse brucke', 'wartung.html'],
      ['a Chinese question', '黄河流经几个省份？', '河流.txt'],
    ])('is found by %s', async (_name, query, key) => {
      expect((await search(query))[0]?.file.key).toBe(key)
    })

    it('is found by the headings above it', async () => {
      const passages = await search('emergency', { contextDepth: 0 })
      expect(passages.map(({ content }) => content)).toEqual([emergency])
      const below = await search('pump start', { contextDepth: 0 })
      expect(below.map(({ content }) => content)).toContain(wait)
    })
  })

  describe('with contextDepth', () => {
    it.each([
      [0, [wait]],
      [undefined, [start, wait, stop]],
      [1, [start, wait, stop]],
      [2, [title, start, wait, stop, emergency]],
      [10, [title, start, wait, stop, emergency]],
    ])('%s, the content includes its neighbours', async (contextDepth, expected) => {
      const [best] = await search('ten seconds', { contextDepth })
      expect(best?.content).toBe(expected.join('\n\n'))
    })
  })

  it('explain adds the evidence of each retriever', async () => {
    const [best] = await search('red valve', { explain: true })
    expect(best?.explanation).toMatchObject({ keyword: expect.any(Number) })
    for (const part of Object.values(best?.explanation ?? {})) {
      expect(part).toBeGreaterThanOrEqual(0)
      expect(part).toBeLessThanOrEqual(1)
    }
    const [plain] = await search('red valve')
    expect(plain).not.toHaveProperty('explanation')
  })

  it('minScore excludes lower scores', async () => {
    const all = await search('water valve button')
    const middle = all[1]?.score ?? 0
    const some = await search('water valve button', { minScore: middle })
    expect(some.map(({ score }) => score)).toEqual(
      all.map(({ score }) => score).filter((score) => score >= middle),
    )
    expect(some.length).toBeGreaterThan(0)
    expect(some.length).toBeLessThan(all.length)
  })

  describe('with withContext', () => {
    it('the context is listed too, up to contextDepth', async () => {
      const [best] = await search('lever', { withContext: true })
      expect(best?.content).toBe([stop, emergency].join('\n\n'))
      expect(best?.context).toEqual([
        { type: 'breadcrumb', text: 'Pump' },
        { type: 'breadcrumb', text: 'Stop' },
        { type: 'preceding', text: stop, offset: -1, id: expect.stringMatching(uuid) },
        { type: 'current', text: emergency, offset: 0, id: expect.stringMatching(uuid) },
      ])
      const [alone] = await search('seconds', { withContext: true, contextDepth: 0 })
      expect(alone?.context?.map(({ type }) => type)).toEqual([
        'breadcrumb',
        'breadcrumb',
        'current',
      ])
      const [wide] = await search('seconds', { withContext: true, contextDepth: 2 })
      expect(wide?.context?.map(({ offset }) => offset)).toEqual([
        undefined,
        undefined,
        -2,
        -1,
        0,
        1,
        2,
      ])
      expect(wide?.context?.at(-1)?.type).toBe('subsequent')
    })

    it('omitted, there is no context', async () => {
      expect((await search('lever'))[0]).not.toHaveProperty('context')
    })
  })

  describe('with includeBreadcrumb', () => {
    it('the headings are above the content', async () => {
      const [alone] = await search('lever', { includeBreadcrumb: true, contextDepth: 0 })
      expect(alone?.content).toBe(`# Pump\n\n## Stop\n\n${emergency}`)
      const [first] = await search('moves water', { includeBreadcrumb: true, contextDepth: 0 })
      expect(first?.content).toBe(title)
    })

    it('every heading occurs once, where its section begins', async () => {
      const [best] = await search('ten seconds', { includeBreadcrumb: true })
      expect(best?.content).toBe(['# Pump', start, wait, stop].join('\n\n'))
    })
  })

  describe('with consolidate', () => {
    it('the matches of a file become one passage in reading order', async () => {
      const passages = await search('lever help valve Filter', {
        consolidate: true,
        contextDepth: 0,
        includeBreadcrumb: true,
        withContext: true,
      })
      const manualPassage = passages.find(({ file }) => file.key === 'pump.md')
      expect(passages).toHaveLength(2)
      expect(manualPassage?.meta).toEqual({ type: 'consolidated', position: 1 })
      expect(manualPassage).not.toHaveProperty('context')
      expect(manualPassage?.content).toBe(['# Pump', start, '## Stop', emergency].join('\n\n'))
      const scores = passages.map(({ score }) => score)
      expect(scores).toEqual(scores.toSorted((a, b) => b - a))
    })

    it('neighbours occur once, also between two matches', async () => {
      const [best] = await search('seconds button', { consolidate: true, contextDepth: 1 })
      expect(best?.content).toBe(['# Pump', start, wait, stop, emergency].join('\n\n'))
    })

    it('it has the position of the beginning of its content, which may be before the first match', async () => {
      await bot.uploadAndWait({ key: 'scan.md', index: true }, 'Nothing yet.')
      const passages = ['A lid is red.', 'A zebra waits.', 'A door shuts.']
      await bot.as().setFilePassages({
        id: 'scan.md',
        passages: passages.map((content, at) => ({ content, pageNumber: at + 4 })),
      })
      const [best] = await search('zebra', { consolidate: true, contextDepth: 1 })
      // The file has no title, so its name is used.
      expect(best?.content).toBe(['# scan', ...passages].join('\n\n'))
      expect(best?.meta).toEqual({ type: 'consolidated', pageNumber: 4, position: 0 })
      await bot.as().deleteFile({ id: 'scan.md' })
    })
  })

  describe('with limit', () => {
    it('there are at most as many passages', async () => {
      expect(await search('the', { limit: 1 })).toHaveLength(1)
      expect((await search('pump valve button lever')).length).toBeGreaterThan(2)
      expect(await search('pump valve button lever', { limit: 2 })).toHaveLength(2)
    })

    it.each([0, 51])('%s is refused', async (limit) => {
      await expect(search('pump', { limit })).rejects.toMatchObject({ type: 'InvalidQuery' })
    })
  })

  describe('with tags', () => {
    it.each([
      [{ kb: 'en' }, ['pump.md']],
      [{ kb: ['en', 'de'] }, ['pump.md', 'wartung.html']],
      [{ kb: { not: 'en' } }, ['wartung.html']],
      [{ kb: { exists: false } }, []],
      [{ other: 'en' }, []],
    ])('%j only those files are searched', async (tags, keys) => {
      const passages = await search('valve Filter', { tags })
      expect([...new Set(passages.map(({ file }) => file.key))].toSorted()).toEqual(keys)
    })
  })

  describe('a query', () => {
    it.each(['?!', '"—"', '🦀'])('without a word finds nothing: %s', async (query) => {
      expect(await search(query)).toEqual([])
    })

    it('must have more than white space', async () => {
      await expect(search(' \t\n')).rejects.toMatchObject({
        type: 'InvalidQuery',
        message: 'query.query must have more than white space.',
      })
    })

    it('may have at most 2,048 bytes', async () => {
      expect(await search(`pump ${'é'.repeat(1021)}`)).not.toEqual([])
      await expect(search('é'.repeat(1025))).rejects.toMatchObject({
        type: 'InvalidQuery',
        message: 'query.query must have at most 2048 bytes of UTF-8.',
      })
      await expect(search('')).rejects.toMatchObject({ type: 'InvalidQuery' })
    })
  })

  describe('a passage that the caller may not see', () => {
    it('is not found: files that are not shared, for an integration', async () => {
      const client = bot.as(integration('i1'))
      await bot.uploadAndWait({ key: 'own.md', index: true }, '# My valve', integration('i1'))
      const keys = async (query: string) =>
        (await client.searchFiles({ query })).passages.map(({ file }) => file.key)
      expect(await keys('valve')).toEqual(['own.md'])
      expect(await keys('黄河')).toEqual(['河流.txt'])
      await client.deleteFile({ id: 'own.md' })
      expect(await keys('valve')).toEqual([])
    })

    it('is not found: the files of another bot', async () => {
      const other = bench().newBot()
      expect((await other.as().searchFiles({ query: 'valve' })).passages).toEqual([])
    })

    it('is not found: a deleted file, at once', async () => {
      await bench().pauseJobs()
      bench().startJobs()
      await bot.uploadAndWait({ key: 'gone.md', index: true }, '# Zeppelin')
      expect(await search('zeppelin')).toHaveLength(1)
      await bench().pauseJobs()
      await bot.as().deleteFile({ id: 'gone.md' })
      expect(await search('zeppelin')).toEqual([])
      bench().startJobs()
    })
  })
})

function input(
  query: string,
  options: {
    limit?: number
    contextDepth?: number | undefined
    consolidate?: boolean
    includeBreadcrumb?: boolean
    withContext?: boolean
    explain?: boolean
    minScore?: number
    tags?: Parameters<ReturnType<TestBot['as']>['searchFiles']>[0]['tags']
  },
) {
  const { contextDepth, ...rest } = options
  return { query, ...rest, ...(contextDepth !== undefined && { contextDepth }) }
}
