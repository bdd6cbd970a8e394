import { describe, expect, it } from 'vitest'
import { daysOf, monthsUntil, sumByDay } from './months.js'

describe('the months of usage', () => {
  it('are this one and the eleven before it, in UTC', () => {
    const months = monthsUntil(Date.parse('2026-01-31T23:59:59Z'))
    expect(months).toHaveLength(12)
    expect(months.slice(0, 3)).toEqual(['2026-01', '2025-12', '2025-11'])
    expect(months.at(-1)).toBe('2025-02')
  })

  it('have all of their days', () => {
    expect(daysOf('2026-12').at(-1)).toBe('2026-12-31')
    expect(daysOf('2026-02')).toHaveLength(28)
    expect(daysOf('2028-02')).toHaveLength(29)
    expect(daysOf('2026-04')[0]).toBe('2026-04-01')
  })
})

describe('the sums of days', () => {
  it('add up bots, and have the days on which nothing was used', () => {
    const rows = [
      { key: 'b', date: '2026-03-02', value: 3 },
      { key: 'a', date: '2026-03-02', value: 4 },
      { key: 'a', date: '2026-02-28', value: 5 },
    ]
    expect(sumByDay(['2026-03-01', '2026-03-02'], rows)).toEqual([
      { date: '2026-03-01', value: 0 },
      { date: '2026-03-02', value: 7 },
    ])
  })
})
