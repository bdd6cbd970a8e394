import { array, assert, integer, property } from 'fast-check'
import { expect, it } from 'vitest'
import { createPackedVectors, manyVectors } from './packed-vectors.js'

// Not a multiple of four, so that the remainder of the loop is tested too.
const dimensions = 7
const vectors = array(
  array(integer({ min: -127, max: 127 }), { minLength: dimensions, maxLength: dimensions }),
  { minLength: 2, maxLength: 200 },
)

function cosine(left: readonly number[], right: readonly number[]): number {
  const product = left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0)
  return product === 0 ? 0 : product / (Math.hypot(...left) * Math.hypot(...right))
}

function toBytes(vector: readonly number[]): Uint8Array {
  return new Uint8Array(Int8Array.from(vector).buffer)
}

it.each([
  ['few', 0],
  ['many', manyVectors],
])('finds the same as comparing one by one, with room for %s', (_, room) => {
  assert(
    property(vectors, integer({ min: 1, max: 20 }), ([question = [], ...all], limit) => {
      const packed = createPackedVectors(dimensions, room)
      // Each is written twice; the second value is the one that counts.
      for (const [number] of all.entries()) packed.set(number, toBytes(question))
      for (const [number, vector] of all.entries()) packed.set(number, toBytes(vector))
      const expected = all.map((vector) => cosine(question, vector)).sort((a, b) => b - a)
      const found = packed.nearest(toBytes(question), limit)
      expect(packed.size).toBe(all.length)
      expect(found).toHaveLength(Math.min(limit, all.length))
      for (const [at, { number, similarity }] of found.entries()) {
        expect(similarity).toBeCloseTo(expected[at] ?? Number.NaN, 9)
        expect(similarity).toBeCloseTo(cosine(question, all[number] ?? []), 9)
      }
    }),
    { seed: 5 },
  )
})

it('keeps its vectors while it grows', () => {
  const packed = createPackedVectors(dimensions)
  const vectorOf = (number: number) => toBytes([number & 127, number >> 7, 1, 0, -1, 2, -127])
  const amount = manyVectors * 2
  for (let number = 0; number < amount; number++) packed.set(number, vectorOf(number))
  for (let number = 0; number < amount; number += 97) {
    expect(packed.nearest(vectorOf(number), 1)).toMatchObject([{ number }])
  }
})
