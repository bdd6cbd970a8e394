import { noQuota } from '@botstead/contract'
import { describe, expect, it } from 'vitest'
import { completionOf, fromSize, isSizeUnit, toSize } from './quotas.js'

describe('the completion of a quota', () => {
  it('warns from four fifths on, and more from the whole on', () => {
    const of = (value: number) => completionOf({ value, quota: 1000 })
    expect(of(799)).toEqual({ level: 'low', percent: 79 })
    expect(of(800)).toEqual({ level: 'near', percent: 80 })
    expect(of(999)).toEqual({ level: 'near', percent: 99 })
    expect(of(1000)).toEqual({ level: 'full', percent: 100 })
    expect(of(1200)).toEqual({ level: 'full', percent: 120 })
  })

  it('is that of a used up quota where nothing is allowed, and none without a quota', () => {
    expect(completionOf({ value: 0, quota: 0 })).toEqual({ level: 'full', percent: 100 })
    expect(completionOf({ value: 5, quota: noQuota })).toBeUndefined()
  })
})

describe('sizes in a form', () => {
  it('are shown in the largest unit in which they are short', () => {
    expect(toSize(5_000_000_000)).toEqual({ amount: '5', unit: 'GB' })
    expect(toSize(1_500_000)).toEqual({ amount: '1.5', unit: 'MB' })
    expect(toSize(1_234_567)).toEqual({ amount: '1234.567', unit: 'kB' })
    expect(toSize(999)).toEqual({ amount: '999', unit: 'bytes' })
    expect(toSize(0)).toEqual({ amount: '0', unit: 'GB' })
  })

  it('come back as they were', () => {
    for (const bytes of [0, 1, 999, 1001, 12_345_678, 1_100_000, 2_300_000_000, noQuota - 1]) {
      const { amount, unit } = toSize(bytes)
      expect(fromSize(amount, unit)).toBe(bytes)
    }
    expect(fromSize('2.5', 'GB')).toBe(2_500_000_000)
  })

  it('have units that are known', () => {
    expect(isSizeUnit('GB')).toBe(true)
    expect(isSizeUnit('toString')).toBe(false)
  })
})
