import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editDistance, nearest } from './nearest.js'

describe('the nearest word', () => {
  const words = ['PORT', 'BOTSTEAD_SECRET', 'BOTSTEAD_CHAT_SECRET', 'BOTSTEAD_DATA_DIR']

  it.each([
    ['BOTSTEAD_SECRETS', 'BOTSTEAD_SECRET'],
    ['BOTSTEAD_SERCET', 'BOTSTEAD_SECRET'],
    ['BOTSTEAD_CHATSECRET', 'BOTSTEAD_CHAT_SECRET'],
    ['BOTSTEAD_DATA', 'BOTSTEAD_DATA_DIR'],
    ['PROT', undefined],
    ['POT', undefined],
    ['POORT', 'PORT'],
    ['BOTSTEAD_COFFEE_MACHINE', undefined],
    ['', undefined],
  ])('to %s is %s', (word, expected) => {
    expect(nearest(word, words)).toBe(expected)
  })
})

describe('the distance of two words', () => {
  /** The definition, without a limit: every way from the beginnings to both words. */
  function distanceOf(left: string, right: string, swap: number): number {
    if (left === '' || right === '') return left.length + right.length
    const isSame = left.at(-1) === right.at(-1)
    const isSwapped = left.at(-1) === right.at(-2) && left.at(-2) === right.at(-1)
    const less = (word: string, letters: number) => word.slice(0, -letters)
    return Math.min(
      distanceOf(less(left, 1), less(right, 1), swap) + (isSame ? 0 : 1),
      distanceOf(less(left, 1), right, swap) + 1,
      distanceOf(left, less(right, 1), swap) + 1,
      isSwapped && left.length > 1 && right.length > 1
        ? distanceOf(less(left, 2), less(right, 2), swap) + swap
        : Number.POSITIVE_INFINITY,
    )
  }

  it('is exact up to the limit, and above it known to be more', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 })
    fc.assert(
      fc.property(
        word,
        word,
        fc.integer({ min: 0, max: 4 }),
        fc.constantFrom(1 as const, 2 as const),
        (left, right, limit, swap) => {
          const exact = distanceOf(left, right, swap)
          const found = editDistance(left, right, { limit, swap })
          expect(found).toBe(exact <= limit ? exact : limit + 1)
        },
      ),
    )
  })
})
