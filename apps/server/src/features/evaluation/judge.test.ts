import { array, assert, constantFrom, integer, property, record, tuple } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { measure } from '../../domain/ranking-measures.js'
import type { FoundPassage } from '../search/index.js'
import { judge } from './judge.js'
import type { ResolvedTarget } from './targets.js'

const found = (fileId: string, passageId: string, score = 0.5) =>
  ({
    score,
    file: { id: fileId, key: `${fileId}.md` },
    matches: [{ id: passageId, content: `text of ${passageId}` }],
  }) as unknown as FoundPassage

const wholeFile = (fileId: string, grade = 1, state: ResolvedTarget['state'] = 'present') =>
  ({
    target: { fileId, fileKey: `${fileId}.md`, grade },
    state,
    file: undefined,
    passage: undefined,
  }) satisfies ResolvedTarget

const onePassage = (fileId: string, passageId: string): ResolvedTarget => ({
  target: {
    fileId,
    fileKey: `${fileId}.md`,
    grade: 1,
    passage: { id: passageId, position: 0, hash: '', text: '', quotes: [] },
  },
  state: 'present',
  file: undefined,
  passage: { id: passageId, number: 1, position: 0 },
})

describe('the result of a case', () => {
  it('has the measures of the files in the order of their best passages', () => {
    const file = constantFrom('a', 'b', 'c', 'd')
    assert(
      property(
        array(tuple(file, integer({ min: 0, max: 3 })), { maxLength: 12 }),
        record({ a: integer({ min: 1, max: 3 }), b: integer({ min: 1, max: 3 }) }),
        (passages, grades) => {
          const results = passages.map(([id, passage]) => found(id, `${id}${passage}`))
          const right = Object.entries(grades).map(([id, grade]) => wholeFile(id, grade))
          const { ndcg, recall, mrr, ...rest } = judge(results, { right, wrong: [] })
          const order = [...new Set(passages.map(([id]) => id))]
          expect({ ndcg, recall, mrr }).toEqual(measure(order, new Map(Object.entries(grades))))
          expect(rest.found.map(({ fileId }) => fileId)).toEqual(order)
          expect(rest.missing.map(({ target }) => target.fileId).toSorted()).toEqual(
            Object.keys(grades).filter((id) => !order.some((each) => each === id)),
          )
        },
      ),
    )
  })

  it('counts passages one by one in a file of which the case names some', () => {
    const results = [found('a', 'a1'), found('a', 'a2'), found('b', 'b1'), found('b', 'b2')]
    const { found: units, rank } = judge(results, { right: [onePassage('a', 'a2')], wrong: [] })
    expect(units.map(({ passageId, verdict }) => [passageId, verdict])).toEqual([
      ['a1', 'unjudged'],
      ['a2', 'right'],
      ['b1', 'unjudged'],
    ])
    expect(rank).toBe(2)
  })

  it('counts what is gone as not found, and what is wrong', () => {
    const right = [wholeFile('a'), wholeFile('b', 1, 'gone')]
    const result = judge([found('a', 'a1'), found('c', 'c1')], { right, wrong: [wholeFile('c')] })
    expect(result).toMatchObject({ recall: 0.5, gone: 1, wrong: 1, rank: 1 })
    expect(result.missing).toMatchObject([{ state: 'gone', target: { fileId: 'b' } }])
  })

  it('is perfect without a right answer if nothing is found', () => {
    const nothing = { right: [], wrong: [] }
    expect(judge([], nothing)).toMatchObject({ isAnswerable: false, ndcg: 1, score: 0 })
    expect(judge([found('a', 'a1')], nothing)).toMatchObject({ ndcg: 0, score: 0.5, rank: null })
  })
})
