import { describe, expect, it } from 'vitest'
import { requireMostlyRead } from '../src/document/limits.js'
import { createOmissions, maxPlaces, omissionTexts } from '../src/document/omissions.js'
import { describeOmission, ExtractionError, type Omission } from '../src/index.js'

const scanned = (...pages: number[]): Omission => ({
  kind: 'scanned_page',
  count: pages.length,
  places: pages.map((page) => ({ page })),
})

describe('an omission in words', () => {
  it.each<[Omission, string]>([
    [scanned(3), '1 scanned page: page 3'],
    [scanned(7, 2, 3, 4, 9), '5 scanned pages: pages 2 to 4, 7 and 9'],
    [scanned(2, 3), '2 scanned pages: pages 2 and 3'],
    [{ kind: 'missing_part', count: 1200, places: [] }, '1,200 missing parts'],
    [
      { kind: 'encoding_in_doubt', count: 1, places: [], detail: 'windows-1257' },
      '1 encoding in doubt (windows-1257)',
    ],
    [
      {
        kind: 'formula_without_value',
        count: 3,
        places: [{ sheet: 'Prices', line: 4 }, { sheet: 'Costs' }, { line: 12 }],
      },
      '3 formulas without a value: line 12; sheet Prices, line 4; sheet Costs',
    ],
    [
      { kind: 'embedded_file', count: 1, places: [{ slide: 2, part: 'plan.dwg' }] },
      '1 embedded file: slide 2, plan.dwg',
    ],
  ])('%j', (omission, words) => {
    expect(describeOmission(omission)).toBe(words)
  })

  it('says that there are more places than it names', () => {
    const omissions = createOmissions()
    for (let page = 1; page <= 2 * maxPlaces; page += 1) omissions.add('scanned_page', { page })
    const [found] = omissions.list()
    expect(found && describeOmission(found)).toBe('40 scanned pages: pages 1 to 20 and others')
  })

  it('says that there are more places only if there are', () => {
    const inner = createOmissions()
    for (let page = 1; page <= maxPlaces; page += 1) inner.add('scanned_page', { page })
    inner.add('scanned_page', { page: 3 })
    const omissions = createOmissions()
    omissions.include(inner.list())
    const words = () => omissions.list().map(describeOmission)
    expect(words()).toEqual(['21 scanned pages: pages 1 to 20'])
    inner.add('scanned_page', { page: maxPlaces + 1 })
    omissions.include(inner.list())
    expect(words()).toEqual(['43 scanned pages: pages 1 to 20 and others'])
  })

  it('has names that neither turn the words around them nor act on a terminal', () => {
    const omissions = createOmissions()
    const part = 'pier\u202egpj.exe\u2066\u009b31m\u0085a\u2028b\u200f\u200b\ufeff\u{e0041}.png'
    omissions.add('embedded_file', { part, sheet: part }, { detail: part })
    const [found] = omissions.list()
    const name = 'piergpj.exe31m a b.png'
    expect(found).toMatchObject({ detail: name, places: [{ part: name, sheet: name }] })
    const emoji = '\u{1f469}\u200d\u{1f4bb} \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645'
    omissions.add('missing_part', { part: emoji })
    expect(omissions.list()[1]?.places).toEqual([{ part: emoji }])
    expect(new ExtractionError('damaged', `of ${part}, it is`).message).toBe(`of ${name}, it is`)
  })
})

describe('a document of which parts could not be read', () => {
  const refusalOf = (count: number, unread: number, ...omissions: Omission[]) => {
    try {
      requireMostlyRead({ omissions, parts: { count, unread } })
    } catch (error) {
      if (error instanceof ExtractionError) return error
      throw error
    }
    return undefined
  }

  it('is accepted up to half of them', () => {
    expect(refusalOf(4, 2, scanned(1, 2))).toBeUndefined()
    expect(refusalOf(0, 0)).toBeUndefined()
  })

  it('is refused beyond, with what it was and what to do', () => {
    const refusal = refusalOf(4, 3, scanned(2, 3, 4))
    expect(refusal?.failure).toBe('mostly_unread')
    expect(refusal?.message).toBe(
      `3 of 4 pages could not be read (3 scanned pages: pages 2 to 4). ${omissionTexts.scanned_page.advice} ` +
        'To index the rest nevertheless, index it again and allow that: “Index what can be read” in the dashboard, `--allow-partial` of `botstead reindex`, or `parsing.allowPartial` in the `indexing.configuration` of `reindexFile`.',
    )
    expect(refusal?.reading).toEqual({
      parts: { count: 4, unread: 3 },
      omissions: [scanned(2, 3, 4)],
    })
  })

  it('is refused in few words whatever its parts are called, and with what to do', () => {
    const places = Array.from({ length: maxPlaces }, (_, at) => ({
      part: `${at}${'\u4e00'.repeat(200)}`,
    }))
    const missing = { kind: 'missing_part', count: 3, places } as const
    const message = refusalOf(4, 3, missing)?.message ?? ''
    expect(message).toMatch(/ \u2026\)\. .*To index the rest nevertheless/)
    expect(message.length).toBeLessThan(1000)
  })

  it('has no message that a database refuses', () => {
    const { message } = new ExtractionError('damaged', `a\0b\ud800 ${'x'.repeat(5000)}`)
    expect(message).toMatch(/^ab x+ \u2026$/)
    expect(message.length).toBeLessThan(2010)
  })

  it('is refused also if a reader names nothing', () => {
    expect(refusalOf(3, 2)?.message).toMatch(/^2 of 3 parts could not be read\. To index/)
  })
})
