import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytes, duration, integer, listOf, oneOf } from './setting-kinds.js'

describe('sizes', () => {
  const kind = bytes('1B', '1TiB')

  it.each([
    ['1', 1],
    ['1B', 1],
    ['95MB', 95_000_000],
    ['10gb', 10_000_000_000],
    ['1MiB', 1_048_576],
    ['1.5 GiB', 1_610_612_736],
    ['0.5kB', 500],
    ['1TiB', 1_099_511_627_776],
  ])('%s is %i bytes', (text, expected) => {
    expect(kind.parse(text)).toBe(expected)
  })

  it.each(['0', '1.0001TiB', '2TB', '0.3B', 'MB', '1 M B', '1e3', '0x10', '-1MB', '∞'])(
    '%s is refused',
    (text) => {
      expect(kind.parse(text)).toBeUndefined()
    },
  )

  it('are inside their range whatever is written', () => {
    const amount = fc.oneof(fc.nat(), fc.float({ min: 0, noNaN: true }))
    const unit = fc.constantFrom('', 'B', 'kB', 'MB', 'GiB', 'TiB', 's')
    fc.assert(
      fc.property(amount, unit, (number, suffix) => {
        const value = kind.parse(`${number}${suffix}`)
        if (value === undefined) return
        expect(Number.isInteger(value)).toBe(true)
        expect(value).toBeGreaterThanOrEqual(1)
        expect(value).toBeLessThanOrEqual(2 ** 40)
      }),
    )
  })
})

describe('durations', () => {
  it.each([
    ['250', 250],
    ['250ms', 250],
    ['1.5s', 1_500],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
  ])('%s is %i milliseconds', (text, expected) => {
    expect(duration('0', '1d').parse(text)).toBe(expected)
  })

  it('outside the range or without sense are refused', () => {
    const kind = duration('1s', '1m')
    for (const text of ['999', '61s', '1MB', 's', '']) expect(kind.parse(text)).toBeUndefined()
  })
})

describe('other kinds', () => {
  it('whole numbers keep to their range and to digits', () => {
    const kind = integer(1, 10)
    expect(kind.parse('10')).toBe(10)
    for (const text of ['0', '11', '1.0', '+1', '1e0', ' ', '9'.repeat(30)]) {
      expect(kind.parse(text)).toBeUndefined()
    }
  })

  it('lists keep each value once', () => {
    const kind = listOf(oneOf('api', 'worker'))
    expect(kind.parse('worker, API,worker')).toEqual(['worker', 'api'])
    expect(kind.parse('api,,worker')).toBeUndefined()
  })
})
