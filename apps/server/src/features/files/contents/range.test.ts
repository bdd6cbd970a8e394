import { assert, constantFrom, integer, nat, oneof, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRange } from './content-response.js'

describe('the Range header', () => {
  it.each([
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=2-5', { start: 2, end: 5 }],
    ['bytes=2-', { start: 2, end: 9 }],
    ['bytes=2-99', { start: 2, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-99', { start: 0, end: 9 }],
    ['BYTES = 1-2', undefined],
    ['  Bytes= 1-2 ', { start: 1, end: 2 }],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=10-12', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=5-2', undefined],
    ['bytes=0-1,4-5', undefined],
    ['bytes=-', undefined],
    ['bytes=a-b', undefined],
    ['items=0-1', undefined],
    [undefined, undefined],
  ])('%s of ten bytes', (header, expected) => {
    expect(parseRange(header, 10)).toEqual(expected)
  })

  it('is unsatisfiable when the content is empty', () => {
    expect(parseRange('bytes=0-', 0)).toBe('unsatisfiable')
    expect(parseRange('bytes=-1', 0)).toBe('unsatisfiable')
  })

  it('never leads outside of the content', () => {
    const number = oneof(nat().map(String), constantFrom('', '0', '99999999999999999999'))
    assert(
      property(
        number,
        number,
        integer({ min: 0, max: 1000 }),
        string(),
        (first, last, size, end) => {
          for (const header of [`bytes=${first}-${last}`, `bytes=${first}-${last}${end}`, end]) {
            const range = parseRange(header, size)
            if (range === undefined || range === 'unsatisfiable') continue
            expect(range.start).toBeGreaterThanOrEqual(0)
            expect(range.end).toBeGreaterThanOrEqual(range.start)
            expect(range.end).toBeLessThan(size)
          }
        },
      ),
    )
  })

  it('parses every part that it can express', () => {
    assert(
      property(nat(1000), nat(1000), integer({ min: 1, max: 1000 }), (start, length, size) => {
        const end = start + length
        const expected =
          start < size ? { start, end: Math.min(end, size - 1) } : ('unsatisfiable' as const)
        expect(parseRange(`bytes=${start}-${end}`, size)).toEqual(expected)
      }),
    )
  })
})
