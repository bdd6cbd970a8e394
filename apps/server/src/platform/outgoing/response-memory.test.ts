import { describe, expect, it } from 'vitest'
import { createResponseMemory } from './response-memory.js'

/** Holds as much as it gets, in pieces of 1. */
function holdAll(part: { hold(bytes: number): void }): number {
  for (let held = 0; ; held += 1) {
    try {
      part.hold(1)
    } catch {
      return held
    }
  }
}

describe('the memory for responses in progress', () => {
  it('one program gets half, the next a half of the rest, and every other one some', () => {
    const memory = createResponseMemory(1000)
    const parts = Array.from({ length: 6 }, () => holdAll(memory.open()))
    expect(parts).toEqual([500, 250, 125, 63, 31, 16])
  })

  it('what is given back is there for others', () => {
    const memory = createResponseMemory(1000)
    const [one, other] = [memory.open(), memory.open()]
    holdAll(one)
    expect(() => other.hold(600)).toThrow('all programs of this server share 1.0 kB')
    one.release(500)
    other.hold(300)
    expect(holdAll(one)).toBe(350)
  })
})
