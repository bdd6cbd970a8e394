import {
  array,
  assert,
  constantFrom,
  double,
  integer,
  property,
  record,
  stringMatching,
} from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultWeights } from '../../../domain/retriever-weights.js'
import { coverageOf, shareBesides, titleCoverageOf } from './coverage.js'
import { hashText } from './gram-hash.js'
import { scoreGrams } from './grams.js'
import { neighbourhood, toExpandable, toSubstitutes } from './query-expansion.js'
import { type Candidate, fuse, noiseFloor, score } from './score.js'
import { isForm, minAlike, toGrams } from './word-likeness.js'

const share = () => double({ min: 0, max: 1, noNaN: true })
const candidate = record(
  {
    rank: double({ min: 0.01, max: 50, noNaN: true }),
    grams: share(),
    coverage: share(),
    found: share(),
    likeness: share(),
  },
  { requiredKeys: [] },
)
const candidates = array(candidate, { minLength: 1, maxLength: 30 }).map((list) =>
  list.map((each, number): Candidate => ({ number, ...each })),
)
const options = {
  weights: defaultWeights,
  confidence: 1,
  isLearned: false,
  terms: 4,
  maxRank: 20,
  isVague: false,
  limit: 20,
  minScore: 0,
}

describe('fusion', () => {
  it('ranks a passage first when every retriever ranks it higher', () => {
    const other = { number: 3, keyword: 1, grams: 0.1, semantic: 0.1 }
    assert(
      property(share(), share(), share(), (keyword, grams, semantic) => {
        const worse = { number: 1, keyword, grams, semantic }
        const better = { number: 2, keyword: keyword + 1, grams: grams + 1, semantic: semantic + 1 }
        const fused = fuse([worse, better, other])
        expect(fused.get(2)).toBeGreaterThan(fused.get(1) ?? 0)
      }),
      { seed: 11 },
    )
  })

  it('does not depend on the scale of a retriever', () => {
    const list = [1, 2, 3].map((number) => ({ number, keyword: number * 2, grams: 1 / number }))
    const scaled = list.map((each) => ({ ...each, keyword: each.keyword * 100 }))
    expect(fuse(scaled)).toEqual(fuse(list))
  })
})

describe('scores', () => {
  it('lie between the noise floor and 1, best first, up to the limit', () => {
    assert(
      property(candidates, share(), integer({ min: 1, max: 5 }), (list, confidence, limit) => {
        const scores = score(list, { ...options, confidence, limit }).map((each) => each.score)
        expect(scores.length).toBeLessThanOrEqual(limit)
        expect(scores).toEqual(scores.toSorted((a, b) => b - a))
        for (const each of scores) {
          expect(each).toBeGreaterThanOrEqual(noiseFloor)
          expect(each).toBeLessThanOrEqual(1)
        }
      }),
      { seed: 3 },
    )
  })

  it('are low when even the best passage covers little of the question', () => {
    const poor = [{ number: 1, rank: 6, word: 0.6, grams: 0.2, coverage: 0.2, found: 0.25 }]
    const rich = [{ number: 1, rank: 12, word: 0.6, grams: 0.9, coverage: 0.9, found: 0.9 }]
    expect(score(poor, options)[0]?.score).toBeLessThan(0.4)
    expect(score(rich, options)[0]?.score).toBeGreaterThan(0.9)
    expect(score(rich, { ...options, isVague: true })[0]?.score).toBeLessThanOrEqual(0.2)
    const unrelated = { number: 1, rank: 9, coverage: 0.15, found: 0.15 }
    expect(score([unrelated], options)).toEqual([])
    expect(score([{ ...unrelated, likeness: 0.5 }], { ...options, confidence: 0.1 })).toEqual([])
    expect(score([{ ...unrelated, likeness: 0.5 }], options)).toHaveLength(1)
  })

  it('are higher the more of its heading the question covers, and with the words of its section', () => {
    const passage = { number: 1, rank: 7, coverage: 0.3, found: 0.4 }
    const scoreOf = (more: Partial<Candidate>) =>
      score([{ ...passage, ...more }], options)[0]?.score ?? 0
    expect(scoreOf({ titled: 0.5 })).toBeGreaterThan(scoreOf({ titled: 0.25 }))
    expect(scoreOf({ titled: 0.25 })).toBeGreaterThan(scoreOf({}))
    expect(scoreOf({ beside: 0.3 })).toBeGreaterThan(scoreOf({}))
    expect(scoreOf({ beside: 0.3 })).toBeLessThan(scoreOf({ found: 0.7 }))
  })

  it.each([
    [0.068, 0.013, 0.7],
    [0.1, 0.29, 0.72],
  ])('rank meaning above letters that occur by chance', (letters, faint, clear) => {
    const chance = { number: 1, grams: letters, coverage: letters, found: 0, likeness: faint }
    const meant = { number: 2, grams: 0, coverage: 0, found: 0, likeness: clear }
    const other = { number: 3, grams: 0, coverage: 0, found: 0, likeness: 0.01 }
    const [first, second] = score([chance, meant, other], options)
    expect(first?.number).toBe(2)
    expect(first?.score).toBeGreaterThan(0.5)
    expect(second?.score ?? 0).toBeLessThan(0.5)
  })

  it('are at most .3 where no word of the question occurs in any form', () => {
    assert(
      property(candidates, share(), integer({ min: 1, max: 20 }), (list, confidence, terms) => {
        const learned = list.map((each) => ({ ...each, isSure: false }))
        const guessed = learned.map(({ likeness: _, ...each }) => each)
        const scored = [
          ...score(guessed, { ...options, confidence, terms }),
          ...score(learned, { ...options, confidence, terms, isLearned: true }),
        ]
        for (const { score: own } of scored) expect(own).toBeLessThanOrEqual(0.3)
      }),
      { seed: 5 },
    )
  })

  it('of the best are the same before and after a model was learned from the passages', () => {
    assert(
      property(candidates, share(), (list, confidence) => {
        const before = list.map(({ likeness: _, ...each }) => each)
        const [first] = score(before, { ...options, confidence: 0, isLearned: true })
        const [after] = score(list, { ...options, confidence, isLearned: true })
        // Meaning alone may find what words do not.
        if (first !== undefined) expect(after?.score).toBeCloseTo(first.score, 10)
      }),
      { seed: 7 },
    )
  })

  it('of the best never fall when a passage has more of the question', () => {
    const more = record({ rank: share(), grams: share(), coverage: share(), found: share() })
    assert(
      property(candidates, more, (list, { rank, grams, coverage, found }) => {
        const bestOf = (some: Candidate[]) => score(some, options)[0]?.score ?? 0
        const [first = { number: 0 }, ...others] = list
        const better = {
          ...first,
          rank: (first.rank ?? 0) + rank,
          grams: (first.grams ?? 0) + grams,
          coverage: Math.min(1, (first.coverage ?? first.found ?? 0) + coverage),
          found: Math.min(1, (first.found ?? 0) + found),
        }
        expect(bestOf([better, ...others])).toBeGreaterThanOrEqual(bestOf(list) - 1e-9)
      }),
      { seed: 7 },
    )
  })

  it('rank passages with the literal phrase first', () => {
    const found = score(
      [
        { number: 1, rank: 30, grams: 1, coverage: 0.9, likeness: 0.9, literal: 0 },
        { number: 2, rank: 5, grams: 0.3, coverage: 0.9, likeness: 0.2, literal: 1 },
      ],
      options,
    )
    expect(found.map(({ number }) => number)).toEqual([2, 1])
  })

  it('exclude passages below the minimum of the caller', () => {
    const list = [1, 2].map((number) => ({
      number,
      rank: number * 10,
      grams: number,
      coverage: 1,
      found: 1,
    }))
    expect(score(list, { ...options, minScore: 0.9 })).toHaveLength(1)
  })
})

describe('grams', () => {
  it('find a word by its letters, regardless of its ending', () => {
    const scores = scoreGrams(
      'wartungsvertrag',
      new Map([
        [1, hashText('die wartung der pumpe')],
        [2, hashText('der kuchen ist gut')],
      ]),
    )
    expect(scores.get(1)?.coverage).toBeGreaterThan(0.25)
    expect(scores.get(2)?.coverage).toBe(0)
    expect(scoreGrams('pump', new Map([[1, hashText('the pump')]])).get(1)?.coverage).toBe(1)
  })
})

describe('the coverage of a question', () => {
  const word = stringMatching(/^[ab]{1,8}$/)
  const text = array(word, { maxLength: 12 }).map((words) => words.join(' '))

  function worthOf(term: string, substitutes: ReadonlyMap<string, number>, other: string): number {
    if (other === term || isForm(term, other)) return 1
    const grams = toGrams(term)
    const same = grams.filter((gram) => ` ${other} `.includes(gram)).length / grams.length
    const near = [...substitutes].map(([word, worth]) => (isForm(word, other) ? worth : 0))
    return Math.max(...near, same >= minAlike ? same : 0)
  }

  /** Guesses count less each, and half where nothing is sure. */
  function sumOf(worths: readonly number[]): number {
    const sure = worths.filter((worth) => worth >= 0.65)
    const guesses = worths.filter((worth) => worth < 0.65).sort((a, b) => b - a)
    const guessed = guesses.reduce((sum, worth, at) => sum + worth * 0.5 ** at, 0)
    const isAlone = sure.length === 0 && worths.length > 1
    return sure.reduce((sum, worth) => sum + worth, 0) + guessed * (isAlone ? 0.5 : 1)
  }

  it('is the best of all words of a text, most of which are not compared', () => {
    const part = record({ term: word, other: word, worth: share() })
    assert(
      property(array(part, { minLength: 1, maxLength: 4 }), text, (parts, text) => {
        const weight = 1 / parts.length
        const question = parts.map(({ term, other, worth }) => ({
          tokens: [term],
          weight,
          substitutes: new Map([[other, worth]]),
        }))
        const worths = question.map(({ tokens: [term = ''], substitutes }) =>
          Math.max(...text.split(' ').map((other) => worthOf(term, substitutes, other))),
        )
        const { share, isSure } = coverageOf(question)(hashText(text))
        expect(share).toBeCloseTo(Math.min(1, weight * sumOf(worths)), 10)
        expect(isSure).toBe(worths.some((worth) => worth >= 0.65))
      }),
    )
  })

  it('counts a gram of a similar word as often as the question has it', () => {
    const coverage = coverageOf([{ tokens: ['aaaaab'], weight: 1, substitutes: new Map() }])
    expect(coverage(hashText('baaaaba')).share).toBeCloseTo(0.6, 10)
  })

  it('is that of the last text, too, after many others', () => {
    const coverage = coverageOf([{ tokens: ['pump'], weight: 1, substitutes: new Map() }])
    const texts = ['the pump', 'the cake', 'pumps', ''].map(hashText)
    expect(texts.map((text) => coverage(text).share)).toEqual([1, 0, 1, 0])
  })
})

describe('query expansion', () => {
  const expandable = (word: string, isMissing = true, spellings: string[] = []) =>
    toExpandable([{ word, spellings, isMissing }])

  it.each([
    ['instalation', 'installation'],
    ['recieve', 'receive'],
    ['valvee', 'valve'],
    ['wartungsvertrag', 'wartung'],
    ['wartungsvertrag', 'vertrag'],
    ['pumpe', 'umwalzpumpe'],
    ['pumpe', 'umwalzpumpen'],
    ['micro', 'microphone'],
  ])('of %s tries %s', (word, other) => {
    const near = toSubstitutes(expandable(word), [other, 'unrelated']).get(word)
    expect([...(near?.keys() ?? [])]).toEqual([other])
  })

  it('of a heading is the share of its words that the question has, which is small for short ones', () => {
    const question = [
      { tokens: ['export'], weight: 0.6, substitutes: new Map() },
      { tokens: ['board'], weight: 0.4, substitutes: new Map([['panel', 0.5]]) },
    ]
    const coverage = titleCoverageOf(question)
    expect(coverage([['export', 'boards', 'trello', 'menu']])).toBe(0.5)
    expect(coverage([['export', 'panel', 'trello', 'menu', 'file']])).toBe(0.3)
    expect(coverage([['export']])).toBe(0.25)
    expect(coverage([['menu'], ['export', 'board', 'menu', 'file']])).toBe(0.5)
    expect(coverage([])).toBe(0)
  })

  it('of a neighbour is what it has besides a text', () => {
    const question = ['hotel', 'receipts', 'pump'].map((word) => ({
      tokens: [word],
      weight: 1 / 3,
      substitutes: new Map(),
    }))
    const coverage = coverageOf(question)
    const [one, other] = ['the hotel', 'hotel receipts'].map(
      (text) => coverage(hashText(text)).sure,
    )
    if (one === undefined || other === undefined) throw new Error('Two texts have two coverages')
    expect(shareBesides(other, one)).toBeCloseTo(1 / 3)
    expect(shareBesides(one, other)).toBe(0)
  })

  it('finds a word with any two wrong letters', () => {
    const letter = constantFrom('', ...'abcdeé')
    const edit = record({
      at: integer({ min: 0, max: 20 }),
      letter,
      left: integer({ min: 0, max: 1 }),
    })
    assert(
      property(stringMatching(/^[a-zé]{10,20}$/), array(edit, { maxLength: 2 }), (word, edits) => {
        const typed = edits.reduce(
          (text, { at, letter, left }) => text.slice(0, at) + letter + text.slice(at + left),
          word,
        )
        const near = toSubstitutes(expandable(typed), [word]).get(typed)
        if (typed !== word) expect(near?.get(word)).toBeGreaterThan(0.5)
      }),
    )
  })

  it('reads the parts of a vocabulary that have a word with any wrong letter', () => {
    const place = integer({ min: 0, max: 30 })
    const edits = constantFrom('replace', 'add', 'omit', 'swap')
    assert(
      property(stringMatching(/^[a-z]{7,20}$/), place, edits, (word, place, edit) => {
        const at = place % (word.length - 1)
        const [before, one, other, after] = [
          word.slice(0, at),
          word.slice(at, at + 1),
          word.slice(at + 1, at + 2),
          word.slice(at + 2),
        ]
        const typed = {
          replace: `${before}x${other}${after}`,
          add: `${before}x${one}${other}${after}`,
          omit: `${before}${other}${after}`,
          swap: `${before}${other}${one}${after}`,
        }[edit]
        const near = neighbourhood(expandable(typed))
        const isRead =
          near.words.includes(word) ||
          near.prefixes.some((prefix) => word.startsWith(prefix)) ||
          near.suffixes.some((suffix) => word.endsWith(suffix))
        expect(isRead).toBe(true)
      }),
    )
  })

  it('prefers the more likely meaning', () => {
    const near = toSubstitutes(expandable('umwaelzpumpe', true, ['umwalzpumpe']), [
      'pumpe',
      'umwaelzpumpen',
      'umwalzpumpe',
    ])
    expect([...(near.get('umwaelzpumpe')?.keys() ?? [])]).toEqual([
      'umwalzpumpe',
      'umwaelzpumpen',
      'pumpe',
    ])
  })

  it('of a word that passages have tries compounds only', () => {
    const near = (word: string, listed: string[]) => [
      ...(toSubstitutes(expandable(word, false), listed).get(word)?.keys() ?? []),
    ]
    expect(near('pumpe', ['umwalzpumpe', 'lumpe', 'pumpenraum'])).toEqual(['umwalzpumpe'])
    expect(near('port', ['support', 'report'])).toEqual([])
  })

  it('uses the beginning of a compound for lack of anything better', () => {
    const near = (listed: string[]) => [
      ...(toSubstitutes(expandable('steuerbescheid'), listed).get('steuerbescheid') ?? []),
    ]
    expect(near(['steuererklarung', 'steuern', 'stempelbescheid'])).toEqual([
      ['steuererklarung', 0.3],
    ])
    expect(near(['steuererklarung', 'steuerbescheide'])).toEqual([['steuerbescheide', 0.8]])
  })

  it('leaves short words, numbers and codes alone', () => {
    for (const word of ['cat', '4711', 'ax12']) expect(expandable(word)).toEqual([])
  })

  it('treats words that differ by a short ending as forms of one word', () => {
    for (const [one, other] of [
      ['pumpe', 'pumpen'],
      ['restart', 'restarting'],
      ['valve', 'valves'],
    ]) {
      expect(isForm(one ?? '', other ?? '')).toBe(true)
    }
    for (const [one, other] of [
      ['pump', 'lump'],
      ['config', 'configuration'],
      // The rest is an ending of neither word.
      ['bread', 'break'],
      ['card', 'care'],
      ['form', 'fort'],
    ]) {
      expect(isForm(one ?? '', other ?? '')).toBe(false)
    }
    for (const [one, other] of [
      ['change', 'changing'],
      ['company', 'companies'],
      ['submit', 'submitted'],
      ['pruefen', 'prueft'],
      ['клапан', 'клапаны'],
    ]) {
      expect(isForm(one ?? '', other ?? '')).toBe(true)
    }
  })
})
