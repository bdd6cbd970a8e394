import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { separate } from './ranking-measures.js'

describe('separate', () => {
  it('finds the chance that comparing all pairs finds, ties as halves', () => {
    const scores = fc.array(fc.integer({ min: 0, max: 8 }).map((eighths) => eighths / 8))
    fc.assert(
      fc.property(scores, scores, (answered, offTopic) => {
        const pairs = answered.flatMap((own) => offTopic.map((other) => Math.sign(own - other)))
        const won = pairs.reduce((sum, order) => sum + (order + 1) / 2, 0)
        expect(separate(answered, offTopic).chance).toBe(won / Math.max(1, pairs.length))
      }),
    )
  })
})
