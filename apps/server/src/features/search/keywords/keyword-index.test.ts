import { toIndexText } from '@botstead/documents/text'
import { assert, asyncProperty, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeSlow, useDatabase } from '../../../../test/engines.js'
import { createIds } from '../../../platform/ids.js'
import { type FileScope, toTagConditions } from '../../files/index.js'
import { deleteOfBot, insertPassages } from '../passage-store.js'
import { toQuery } from '../query.js'
import { createKeywordIndex } from './index.js'

interface Text {
  folders?: string
  name?: string
  headings?: string
  body: string
}

const ids = createIds()

describeSlow('the keyword index', (engine) => {
  const database = useDatabase(engine)
  const index = () => createKeywordIndex(database().dialect)

  /** A bot with one file that has a passage per text. */
  async function makeBot(texts: readonly Text[], file: { tags?: Record<string, string> } = {}) {
    const botId = ids.uuid()
    const fileId = await addFile(botId, texts, file)
    return { botId, fileId }
  }

  async function addFile(
    botId: string,
    texts: readonly Text[],
    file: { tags?: Record<string, string>; generation?: number; found?: number } = {},
  ): Promise<string> {
    const { tags = {}, generation = 1, found = generation } = file
    const fileId = ids.next('file')
    await database().run(async (tx) => {
      await tx
        .insertInto('files')
        .values({
          ...blankFile,
          id: fileId,
          bot_id: botId,
          key: fileId,
          passages_generation: found,
        })
        .execute()
      for (const [name, value] of Object.entries(tags)) {
        const tag = { file_id: fileId, bot_id: botId, name, value }
        await tx.insertInto('file_tags').values(tag).execute()
      }
      const rows = texts.map(({ body }, position) => ({
        ...blankPassage,
        id: ids.uuid(),
        bot_id: botId,
        file_id: fileId,
        generation,
        position,
        content: body,
      }))
      const numbers = await insertPassages(tx, rows)
      const entries = texts.map(({ folders = '', name = '', headings = '', body }, at) => ({
        number: numbers[at] ?? 0,
        fields: {
          folders: toIndexText(folders),
          name: toIndexText(name),
          headings: toIndexText(headings),
          body: toIndexText(body),
        },
      }))
      await index().add(tx, botId, entries)
    })
    return fileId
  }

  async function find(
    botId: string,
    query: string,
    options: { limit?: number; tag?: string } = {},
  ) {
    const scope: FileScope = { botId, integrationId: undefined, now: '2026-03-01T12:00:00.000Z' }
    const tags = toTagConditions(options.tag === undefined ? {} : { kb: options.tag })
    const { limit = 20 } = options
    const reader = await index().reader(database().db, botId)
    const hits = await reader.search({ query: toQuery(query), scope, tags, limit })
    if (hits.length === 0) return []
    const rows = await database()
      .db.selectFrom('passages')
      .select(['number', 'content'])
      .where(
        'number',
        'in',
        hits.map(({ number }) => number),
      )
      .execute()
    const contents = new Map(rows.map(({ number, content }) => [number, content]))
    return hits.map(({ number, score }) => ({ score, content: contents.get(number) }))
  }

  async function contents(...query: Parameters<typeof find>) {
    return (await find(...query)).map(({ content }) => content)
  }

  it('returns how common words are, also in thousands of passages', async () => {
    const { botId } = await makeBot([{ body: 'pump of another file' }])
    for (let file = 0; file < 5; file++) {
      const bodies = Array.from({ length: 1000 }, (_, at) => `pump${at % 2 ? ' valve' : ''}`)
      await addFile(
        botId,
        [...bodies, 'gasket'].map((body) => ({ body })),
      )
    }
    const query = toQuery('pump valve gasket washer')
    const reader = await index().reader(database().db, botId)
    const { passages, counts } = await reader.frequencies(query)
    expect(passages).toBe(5006)
    expect(counts.get('pump')).toBeGreaterThan(4950)
    expect(Math.abs((counts.get('valve') ?? 0) - 2500)).toBeLessThan(50)
    expect(counts.get('gasket')).toBe(5)
    expect(counts.get('washer')).toBe(0)
  })

  it('finds passages with any of the words, those with more and rarer ones first', async () => {
    const { botId } = await makeBot([
      { body: 'the pump is blue' },
      { body: 'the pump is green and has a valve' },
      { body: 'nothing of interest' },
      { body: 'the pump again' },
    ])
    const found = await contents(botId, 'pump valve')
    expect(found[0]).toBe('the pump is green and has a valve')
    expect(found.toSorted()).toEqual([
      'the pump again',
      'the pump is blue',
      'the pump is green and has a valve',
    ])
  })

  it('finds other forms of English words', async () => {
    const { botId } = await makeBot([{ body: 'Restarting the servers' }, { body: 'else' }])
    expect(await contents(botId, 'restart a server')).toEqual(['Restarting the servers'])
  })

  it.each([
    ['Chinese', '黄河流经九个省份', '黄河 省份', '长江'],
    ['one Chinese character', '山', '山', '水'],
    ['Japanese', '東京都の人口は増えている', '東京の人口', '大阪'],
    ['Korean', '서울은 대한민국의 수도이다', '수도', '부산'],
    ['German', 'Die Straße führt über die Brücke', 'strasse BRUECKE', 'Fluss'],
    ['Russian', 'Столица России', 'столица', 'река'],
    ['Thai', 'กรุงเทพมหานคร', 'กรุงเทพมหานคร', 'เชียงใหม่'],
    ['Hindi', 'दिल्ली भारत की राजधानी है', 'राजधानी', 'मुंबई'],
    ['a version', 'Release v1.2.3 is out', 'v1.2.3', 'v9.9.9'],
    ['a code', 'Error E-4711 on start', 'E-4711', 'X-4712'],
    ['an address', 'mail to jo@example.com', 'jo@example.com', 'elsewhere'],
    ['digits and letters', 'part 12abc34 fits', '12abc34', '12abc35'],
  ])('finds %s', async (_name, body, query, other) => {
    const { botId } = await makeBot([{ body }, { body: 'something else' }])
    expect(await contents(botId, query)).toEqual([body])
    expect(await contents(botId, other)).toEqual([])
  })

  it('prefers a quoted phrase to its words', async () => {
    const { botId } = await makeBot([
      { body: 'red is the valve and red is the pump' },
      { body: 'turn the red valve' },
    ])
    expect((await contents(botId, '"red valve"'))[0]).toBe('turn the red valve')
  })

  it('gives headings three times the weight', async () => {
    const { botId } = await makeBot([
      { headings: 'Other', body: 'install one two three four' },
      { headings: 'Install', body: 'one two three four five' },
      { headings: 'Third', body: 'six' },
    ])
    expect(await contents(botId, 'install')).toEqual([
      'one two three four five',
      'install one two three four',
    ])
  })

  it('finds names of files, which weigh less than headings and more than the body, and folders least', async () => {
    const { botId } = await makeBot([
      { folders: 'install', body: 'one two three four five' },
      { body: 'install one two three four' },
      { name: 'install', body: 'one two three four six' },
      { headings: 'Install', body: 'one two three four seven' },
      ...Array.from({ length: 9 }, () => ({ body: 'something else' })),
    ])
    expect(await contents(botId, 'install')).toEqual([
      'one two three four seven',
      'one two three four six',
      'install one two three four',
      'one two three four five',
    ])
  })

  it('distinguishes a letter with two dots from one without', async () => {
    const { botId } = await makeBot([{ body: 'Das ist schon gut' }, { body: 'Das ist schön' }])
    expect(await contents(botId, 'schön')).toEqual(['Das ist schön'])
    expect(await contents(botId, 'SCHOEN')).toEqual(['Das ist schön'])
    expect(await contents(botId, 'schon')).toEqual(['Das ist schon gut'])
  })

  it('returns the best first, with scores from 0 to 1', async () => {
    const { botId } = await makeBot(
      Array.from({ length: 30 }, (_, at) => ({ body: `pump ${'filler '.repeat(at)}` })),
    )
    const found = await find(botId, 'pump filler')
    expect(found).toHaveLength(20)
    const scores = found.map(({ score }) => score)
    expect(scores).toEqual(scores.toSorted((a, b) => b - a))
    for (const score of scores) {
      expect(score).toBeGreaterThan(0)
      expect(score).toBeLessThan(1)
    }
  })

  it('returns equal passages in the order in which they were written', async () => {
    const { botId } = await makeBot(
      Array.from({ length: 30 }, (_, at) => ({ body: `pump number${at}` })),
    )
    const expected = Array.from({ length: 20 }, (_, at) => `pump number${at}`)
    expect(await contents(botId, 'pump')).toEqual(expected)
    expect(await contents(botId, 'pump', { limit: 3 })).toEqual(expected.slice(0, 3))
  })

  it('searches one bot only', async () => {
    const { botId } = await makeBot([{ body: 'mine has a pump' }])
    const other = await makeBot([{ body: 'yours has a pump' }])
    expect(await contents(botId, 'pump')).toEqual(['mine has a pump'])
    expect(await contents(other.botId, 'pump')).toEqual(['yours has a pump'])
    expect(await contents(ids.uuid(), 'pump')).toEqual([])
    for (const id of [botId, other.botId]) {
      const word = `bot${id.replaceAll('-', '')}`
      expect(await contents(botId, `${word} @${word} scope`)).toEqual([])
    }
  })

  it('searches the published generation only', async () => {
    const { botId } = await makeBot([{ body: 'published pump' }])
    await addFile(botId, [{ body: 'older pump' }], { generation: 1, found: 2 })
    await addFile(botId, [{ body: 'coming pump' }], { generation: 2, found: 1 })
    expect(await contents(botId, 'pump')).toEqual(['published pump'])
  })

  it('searches files with the right tags only, also when many others match better', async () => {
    const { botId } = await makeBot(Array.from({ length: 60 }, () => ({ body: 'pump pump pump' })))
    await addFile(botId, [{ body: 'a pump among other things' }], { tags: { kb: 'one' } })
    expect(await contents(botId, 'pump', { tag: 'one', limit: 5 })).toEqual([
      'a pump among other things',
    ])
    expect(await contents(botId, 'pump', { tag: 'two' })).toEqual([])
  })

  it('finds and counts the passages of its bot alone, whether others have none, fewer or more', async () => {
    await database().run((tx) => tx.deleteFrom('passages').execute())
    const pumps = (of: string, count: number) =>
      Array.from({ length: count }, (_, at) => ({ body: `pump ${of} ${at}` }))
    const expectOwn = async (botId: string, of: string, count: number) => {
      const found = await contents(botId, 'pump', { limit: 50 })
      expect(found.toSorted()).toEqual(
        pumps(of, count)
          .map(({ body }) => body)
          .toSorted(),
      )
      const reader = await index().reader(database().db, botId)
      const { passages, counts } = await reader.frequencies(toQuery('pump one two'))
      expect(passages).toBe(count)
      expect([counts.get('pump'), counts.get(of)]).toEqual([count, count])
      expect(counts.get(of === 'one' ? 'two' : 'one')).toBe(0)
    }
    const one = await makeBot(pumps('one', 9))
    await expectOwn(one.botId, 'one', 9)
    const two = await makeBot(pumps('two', 5))
    await expectOwn(one.botId, 'one', 9)
    await expectOwn(two.botId, 'two', 5)
    await addFile(two.botId, pumps('more', 7))
    await expectOwn(one.botId, 'one', 9)
  })

  it('does not find deleted passages', async () => {
    const { botId } = await makeBot([{ body: 'pump one' }, { body: 'pump two' }])
    await database().run((tx) => deleteOfBot(tx, botId, 1))
    expect(await contents(botId, 'pump')).toHaveLength(1)
    await database().run((tx) => deleteOfBot(tx, botId, 10))
    expect(await contents(botId, 'pump')).toEqual([])
    // Numbers can be reused; the words of the former passage must not reappear.
    await addFile(botId, [{ body: 'valve' }, { body: 'valve' }])
    expect(await contents(botId, 'pump')).toEqual([])
  })

  describe('a hostile query', () => {
    it.each([
      '" OR 1',
      'a* NEAR(b)',
      "'; drop table passages",
      '{body} : x',
      '^a',
      "a' & !b",
      '\\',
    ])('is read as words only: %s', async (query) => {
      const { botId } = await makeBot([{ body: 'harmless' }])
      expect(await contents(botId, query)).toEqual([])
    })

    it('never fails', async () => {
      await assert(
        asyncProperty(string({ unit: 'grapheme', maxLength: 60 }), async (text) => {
          const { botId } = await makeBot([{ body: text }])
          const found = await find(botId, text)
          expect(found.length).toBeLessThanOrEqual(toIndexText(text) === '' ? 0 : 1)
        }),
        { numRuns: 40 },
      )
    })

    it('finds the text from which it was taken, if that has a word', async () => {
      await assert(
        asyncProperty(string({ unit: 'grapheme-ascii', maxLength: 60 }), async (text) => {
          const { botId } = await makeBot([{ body: text }])
          const found = await find(botId, text)
          expect(found.length).toBe(toIndexText(text) === '' ? 0 : 1)
        }),
        { numRuns: 40 },
      )
    })
  })
})

const blankFile = {
  workspace_id: 'workspace',
  key_space: '',
  owner_type: 'bot',
  owner_id: 'bot',
  generation: 9,
  passages_shared: 0,
  status: 'indexing_completed',
  size: 1,
  content_type: 'text/plain',
  tags: '{}',
  metadata: '{}',
  public_content: 0,
  shared: 0,
  indexed: 1,
  counted_storage: 0,
  counted_vector: 0,
  created_at: '2026-03-01T12:00:00.000Z',
  updated_at: '2026-03-01T12:00:00.000Z',
} as const

const blankPassage = {
  subtype: 'paragraph',
  headings: '[]',
  own_headings: '[]',
  start_offset: 0,
  end_offset: 1,
} as const
