import { assert, property, stringMatching } from 'fast-check'
import { expect, it } from 'vitest'
import { likelihoodOfSlip } from './slips.js'

it.each([
  // Swapped letters, doubled ones and neighbours of a keyboard are likely slips.
  ['recieve', 'receive', 0.9, 1],
  ['adress', 'address', 0.8, 1],
  ['confguration', 'configuration', 0.8, 1],
  ['passwoed', 'password', 0.8, 1],
  ['seperate', 'separate', 0.8, 1],
  // Others, two of them, and those of short words are less likely.
  ['confugiration', 'configuration', 0.6, 0.8],
  ['umwelzpumpe', 'umwaelzpumpe', 0.8, 1],
  ['bread', 'break', 0, 0.5],
  ['bread', 'fread', 0, 0.45],
  ['love', 'live', 0, 0.4],
  ['love', 'move', 0, 0.3],
  ['pump', 'valve', 0, 0],
  ['cat', 'car', 0, 0],
])('%s for %s', (typed, meant, least, most) => {
  const likelihood = likelihoodOfSlip(typed, meant, 2)
  expect(likelihood).toBeGreaterThanOrEqual(least)
  expect(likelihood).toBeLessThanOrEqual(most)
})

it('a likelihood is from 0 to 1, and the same in both directions', () => {
  const word = stringMatching(/^[a-d]{4,9}$/)
  assert(
    property(word, word, (one, other) => {
      const likelihood = likelihoodOfSlip(one, other, 2)
      expect(likelihood).toBeGreaterThanOrEqual(0)
      expect(likelihood).toBeLessThanOrEqual(1)
      expect(likelihoodOfSlip(other, one, 2)).toBeCloseTo(likelihood, 10)
    }),
  )
})
