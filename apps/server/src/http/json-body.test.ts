import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nestsDeeper } from './json-body.js'

describe('the depth of a JSON text', () => {
  it('is that of the value, whatever its strings contain', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(8), (value, allowed) => {
        // Long enough that the check reads it, whatever the value is.
        const json = `${JSON.stringify(value)}${' '.repeat(20)}`
        expect(nestsDeeper(json, allowed)).toBe(depthOf(value) > allowed)
      }),
    )
  })

  it('does not count brackets and quotes inside strings', () => {
    const value = { '[[[{': '"[[[', back: '\\"[[[\\' }
    expect(nestsDeeper(JSON.stringify(value), 1)).toBe(false)
    expect(nestsDeeper(JSON.stringify([value]), 1)).toBe(true)
  })

  it('goes down again after a list has ended', () => {
    const json = `[${Array.from({ length: 1000 }, () => '[]').join(',')}]`
    expect(nestsDeeper(json, 2)).toBe(false)
  })
})

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}
