import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergePatch } from './patches.js'

describe('a merged patch', () => {
  it('leaves what a model of it leaves, whatever the names', () => {
    const name = fc.oneof(
      fc.constantFrom('a', 'b', '__proto__', 'constructor', '0', ''),
      fc.string(),
    )
    const patches = fc.array(fc.array(fc.tuple(name, fc.option(fc.integer())), { maxLength: 6 }), {
      maxLength: 5,
    })
    fc.assert(
      fc.property(patches, (steps) => {
        const model = new Map<string, number>()
        let merged: Record<string, number> = {}
        for (const step of steps) {
          // As it comes out of JSON, where a name is given once.
          const patch: Record<string, number | null> = Object.fromEntries(step)
          merged = mergePatch(merged, patch)
          for (const [key, value] of new Map(step)) {
            if (value === null) model.delete(key)
            else model.set(key, value)
          }
        }
        expect(new Map(Object.entries(merged))).toEqual(model)
      }),
    )
  })
})
