import type { Client } from '@botstead/contract'
import {
  array,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  double,
  integer,
  record,
} from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { describeSlow } from '../../../test/engines.js'
import { integration, type TestBot, useFiles } from '../../../test/files.js'

/** Makes passages as small as possible, so that neighbours are distinct. */
const small = {
  configuration: {
    parsing: { minimumParagraphLength: 0 },
    chunking: { maximumChunkLength: 64 },
  },
}

const manual = `# Pump AX-1200

The pump moves water.

## Start

Turn the red valve to the left. Backups follow.

Wait for ten seconds.

## Stop

Push the button when the colour changes.

### Größe

Die Größe der Umwälzpumpe ist 60 cm.
`

type Explained = Awaited<ReturnType<Client['explainSearch']>>

describeSlow('an explanation', (engine) => {
  const bench = useFiles(engine)
  let bot: TestBot
  let manualId: string

  beforeAll(async () => {
    bot = bench().newBot()
    const options = { index: true, indexing: small }
    const { id } = await bot.uploadAndWait(
      { key: 'docs/pumpManual.md', tags: { kb: 'en' }, ...options },
      manual,
    )
    manualId = id
    await bot.uploadAndWait(
      { key: 'valves.txt', tags: { kb: 'other' }, ...options },
      'A valve closes a pipe.\n\nThe red valve is a spare part.\n\nA green valve is not.',
    )
    await bot.uploadAndWait({ key: '河流.txt', ...options }, '黄河是中国第二长河。')
    await bot.upload({ key: 'plain.md' }, 'A valve that is not indexed.')
    await bot.uploadAndWait({ key: 'broken.zip', index: true }, 'no archive')
  })

  const explain = (input: Parameters<Client['explainSearch']>[0]) => bot.as().explainSearch(input)
  const first = ({ passages }: Explained) => passages[0]?.matches[0]

  const words = constantFrom(
    ...'pump valve red Größe grosse color wait AX-1200 "red valve" backup 黄河 vlave the xyzzy'.split(
      ' ',
    ),
  )
  const input = record(
    {
      query: array(words, { minLength: 1, maxLength: 5 }).map((list) => list.join(' ')),
      limit: integer({ min: 1, max: 50 }),
      contextDepth: integer({ min: 0, max: 2 }),
      consolidate: boolean(),
      includeBreadcrumb: boolean(),
      withContext: boolean(),
      explain: boolean(),
      minScore: double({ min: 0, max: 0.5, noNaN: true }),
      tags: constantFrom({ kb: 'en' }, { kb: { not: 'en' } }),
    },
    { requiredKeys: ['query'] },
  )

  it('has the passages of the search, in their order and with their scores', async () => {
    await assert(
      asyncProperty(input, async (query) => {
        const searched = await bot.as().searchFiles(query)
        const { passages } = await explain(query)
        expect(passages.map(({ matches, ...passage }) => passage)).toEqual(searched.passages)
      }),
      { numRuns: 60 },
    )
  })

  it('takes scores apart and marks words where they stand', async () => {
    await assert(
      asyncProperty(input, async (query) => {
        const { passages, question } = await explain(query)
        for (const { content, score, matches, file } of passages) {
          expect(Math.max(...matches.map((match) => match.score))).toBe(score)
          for (const match of matches) {
            const { contributions, marks, headings } = match
            const sum = Object.values(contributions).reduce((total, part) => total + part, 0)
            expect(sum).toBeCloseTo(match.score, 9)
            expect(match.score).toBeGreaterThanOrEqual(question.minimum)
            let place = ''
            let last = 0
            for (const { field, heading = 0, start, end, terms } of marks) {
              const texts = { content, heading: headings[heading] ?? '', fileKey: file.key }
              if (place !== `${field} ${heading}`) last = 0
              place = `${field} ${heading}`
              expect(start).toBeGreaterThanOrEqual(last)
              expect(texts[field].slice(start, end)).toMatch(/^[\p{L}\p{N}].*[\p{L}\p{N}\p{M}]?$/su)
              expect(terms.length).toBeGreaterThan(0)
              last = end
              if (field !== 'content') continue
              expect(start).toBeGreaterThanOrEqual(match.start)
              expect(end).toBeLessThanOrEqual(match.end)
            }
          }
        }
      }),
      { numRuns: 60 },
    )
  })

  it.each([
    ['the word itself', 'valve', 'valve', 'exact'],
    ['another form', 'valves', 'valve', 'form'],
    ['another spelling', 'color', 'colour', 'spelling'],
    ['a typing error', 'vlave', 'valve', 'typo'],
    ['an umlaut', 'GRÖSSE', 'Größe', 'exact'],
    ['a part of a compound', 'Pumpe cm', 'Umwälzpumpe', 'compound'],
    ['a code', 'AX-1200', 'AX-1200', 'exact'],
  ])('shows that %s matched', async (_, query, word, relation) => {
    const explained = await explain({ query, contextDepth: 0 })
    const found = explained.passages.flatMap(({ content, matches }) =>
      matches.flatMap(({ marks }) =>
        marks
          .filter(({ field }) => field === 'content')
          .map(({ start, end, relation }) => [content.slice(start, end), relation]),
      ),
    )
    expect(found).toContainEqual([word, relation])
  })

  it('shows words in the key of the file and in headings', async () => {
    const match = first(await explain({ query: 'manual start wait', contextDepth: 0 }))
    expect(match?.marks.map(({ field }) => field)).toContain('fileKey')
    expect(match?.marks.map(({ field }) => field)).toContain('heading')
    expect(match?.contributions.fileName).toBeGreaterThan(0)
  })

  it('shows how the question was understood, also if nothing is found', async () => {
    const { question } = await explain({ query: 'the valve with xyzzy' })
    expect(question.terms.map(({ term, passages }) => [term, passages > 0])).toEqual([
      ['valve', true],
      ['xyzzy', false],
    ])
    const weights = question.terms.map(({ weight }) => weight)
    expect(weights[1]).toBeGreaterThan(weights[0] ?? 1)
    const nothing = await explain({ query: 'xyzzy plugh' })
    expect(nothing).toMatchObject({ passages: [], question: { candidates: 0, evidence: 0 } })
    expect(nothing.question.terms.map(({ term }) => term)).toEqual(['xyzzy', 'plugh'])
  })

  describe('of a file that should have been found', () => {
    const outcomeOf = async (query: Parameters<Client['explainSearch']>[0]) => {
      const { target } = await explain(query)
      return target
    }

    it('says that it was found, with the same score', async () => {
      const { passages, target } = await explain({ query: 'red valve left', fileId: manualId })
      const found = passages.filter(({ file }) => file.id === manualId)
      expect(target).toMatchObject({ outcome: 'found', file: { key: 'docs/pumpManual.md' } })
      expect(target?.passages[0]).toMatchObject({
        outcome: 'found',
        isCandidate: true,
        score: found[0]?.score,
        passageId: found[0]?.matches[0]?.passageId,
      })
    })

    it.each([
      ['limit', { query: 'red valve', limit: 1, fileId: 'valves.txt' }, 'beyond_limit'],
      [
        'tags',
        { query: 'red valve', tags: { kb: 'en' }, fileId: 'valves.txt' },
        'excluded_by_tags',
      ],
      ['evidence', { query: 'valve xyzzy plugh frobnicate', fileId: 'valves.txt' }, 'no_evidence'],
      ['words', { query: 'button', fileId: 'valves.txt' }, 'not_a_candidate'],
      ['a missing index', { query: 'valve', fileId: 'plain.md' }, 'not_indexed'],
      ['a failure', { query: 'valve', fileId: 'broken.zip' }, 'indexing_failed'],
    ] as const)('says that it was not because of %s', async (what, query, outcome) => {
      const { passages } = await bot.as().listFilePassages({ id: query.fileId })
      const target = await outcomeOf(
        what === 'limit'
          ? { ...query, passageId: passages[2]?.id ?? '' }
          : { ...query, tags: 'tags' in query ? query.tags : {} },
      )
      expect(target?.outcome).toBe(outcome)
      if (passages.length > 0) expect(target?.passages.length).toBeGreaterThan(0)
    })

    it('says that its score is too low, and which it has', async () => {
      const query = { query: 'green valve spare', fileId: manualId }
      const { target } = await explain(query)
      const score = target?.passages[0]?.score ?? 0
      const low = await explain({ ...query, minScore: Math.min(1, score + 0.01) })
      expect(low.target).toMatchObject({ outcome: 'below_minimum', passages: [{ score }] })
    })

    it('has the ranks of a passage that no retriever proposed', async () => {
      const { passages } = await bot.as().listFilePassages({ id: manualId })
      const waiting = passages.find(({ content }) => content.startsWith('Wait'))
      const target = await outcomeOf({
        query: '黄河',
        fileId: manualId,
        passageId: waiting?.id ?? '',
      })
      expect(target).toMatchObject({
        outcome: 'not_a_candidate',
        passages: [{ passageId: waiting?.id, isCandidate: false, retrievers: {} }],
      })
    })

    it('says when its passage was replaced', async () => {
      const other = bench().newBot()
      const { id } = await other.uploadAndWait({ key: 'a.txt', index: true }, 'old words')
      const [old] = (await other.as().listFilePassages({ id })).passages
      await bench().pauseJobs()
      await other.upload({ key: 'a.txt', index: true }, 'new words')
      const waiting = await other.as().explainSearch({ query: 'words', fileId: id })
      expect(waiting.target).toMatchObject({
        outcome: 'found',
        file: { status: 'indexing_pending' },
        passages: [{ passageId: old?.id }],
      })
      bench().startJobs()
      await other.awaitStatus(id, 'indexing_completed')
      const renewed = await other.as().explainSearch({ query: 'words', fileId: id })
      expect(renewed.target?.passages[0]?.content).toBe('new words')
    })

    it('is refused for what the caller cannot see', async () => {
      const refused = { type: 'ReferenceNotFound' }
      const query = 'valve'
      await expect(explain({ query, fileId: 'nothing.md' })).rejects.toMatchObject(refused)
      await expect(
        bot.as(integration('int_1')).explainSearch({ query, fileId: manualId }),
      ).rejects.toMatchObject(refused)
      await expect(
        bench().newBot().as().explainSearch({ query, fileId: manualId }),
      ).rejects.toMatchObject(refused)
      await expect(explain({ query, fileId: manualId, passageId: 'none' })).rejects.toMatchObject(
        refused,
      )
      await expect(explain({ query, passageId: 'none' })).rejects.toMatchObject({
        type: 'InvalidQuery',
      })
    })
  })
})
