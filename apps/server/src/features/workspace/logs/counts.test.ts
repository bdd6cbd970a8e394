import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bucketsOf, startsOf } from './counts.js'

describe('the buckets of a chart', () => {
  it('are few enough, equal, and contain the whole range', () => {
    const time = fc.integer({ min: 0, max: 4_000_000_000_000 })
    const span = fc.oneof(
      fc.integer({ min: 1, max: 5000 }),
      fc.integer({ min: 1, max: 400 * 24 * 3_600_000 }),
      fc.integer({ min: 1, max: 4_000_000_000_000 }),
    )
    fc.assert(
      fc.property(time, span, fc.integer({ min: 1, max: 120 }), (from, length, max) => {
        const buckets = bucketsOf(from, from + length, max)
        const starts = startsOf(buckets)
        expect(starts.length).toBeLessThanOrEqual(max)
        expect(starts[0]).toBeLessThanOrEqual(from)
        expect(starts.at(-1)).toBeLessThan(from + length)
        expect((starts.at(-1) ?? 0) + buckets.length).toBeGreaterThanOrEqual(from + length)
        for (const start of starts) expect(start % buckets.length).toBe(0)
      }),
    )
  })

  it('end soon for any range that can be written, and begin in 1970', () => {
    const [first, last] = [Date.parse('0000-01-01'), Date.parse('9999-12-31')]
    const time = fc.integer({ min: first, max: last })
    const range = fc.tuple(time, time).map((ends) => ends.toSorted((a, b) => a - b))
    fc.assert(
      fc.property(range, fc.integer({ min: 1, max: 120 }), ([from = 0, to = 0], max) => {
        const starts = startsOf(bucketsOf(from, to, max))
        expect(starts.length).toBeGreaterThan(0)
        expect(starts.length).toBeLessThanOrEqual(max)
        expect(starts[0]).toBeGreaterThanOrEqual(0)
      }),
    )
  })

  it('of a day are half an hour long, of an hour a minute', () => {
    const hour = 3_600_000
    expect(bucketsOf(0, 24 * hour, 60).length).toBe(hour / 2)
    expect(bucketsOf(0, hour, 60).length).toBe(60_000)
  })
})
