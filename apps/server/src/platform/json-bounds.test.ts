import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exceededBound } from './json-bounds.js'

const nestsDeeper = (json: string, depth: number) => exceededBound(json, { depth }) === 'depth'
const hasMoreValues = (json: string, values: number) => exceededBound(json, { values }) === 'values'
const hasMoreObjects = (json: string, objects: number) =>
  exceededBound(json, { objects }) === 'objects'

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

describe('the values of a JSON text', () => {
  it('are counted, whatever its strings contain', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(20), (value, allowed) => {
        const json = `${JSON.stringify(value)}${' '.repeat(50)}`
        const count = countOf(value)
        if (count > allowed) expect(hasMoreValues(json, allowed)).toBe(true)
        if (count < allowed) expect(hasMoreValues(json, allowed)).toBe(false)
      }),
    )
  })

  it('are not looked for in a text that is too short to have so many', () => {
    expect(hasMoreValues(`[${'1,'.repeat(99)}1]`, 101)).toBe(false)
    expect(hasMoreValues(`[${'1,'.repeat(99)}1]`, 100)).toBe(true)
  })
})

describe('the objects, lists and texts of a JSON text', () => {
  it('are counted with names, without numbers, whatever its texts contain', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(20), (value, allowed) => {
        const json = `${JSON.stringify(value)}${' '.repeat(50)}`
        expect(hasMoreObjects(json, allowed)).toBe(objectsOf(value) > allowed)
      }),
    )
  })
})

describe('several bounds of a JSON text', () => {
  it('are checked together, and the one that is exceeded first is named', () => {
    const json = '[[1,2,3,4],["a","b","c"],[[[[]]]]]'
    expect(exceededBound(json, { depth: 5, objects: 10, values: 20 })).toBeUndefined()
    expect(exceededBound(json, { depth: 4, objects: 10, values: 20 })).toBe('depth')
    expect(exceededBound(json, { depth: 4, objects: 3, values: 20 })).toBe('objects')
    expect(exceededBound(json, { depth: 4, objects: 3, values: 5 })).toBe('values')
  })
})

function objectsOf(value: unknown): number {
  if (typeof value === 'string') return 1
  if (typeof value !== 'object' || value === null) return 0
  const names = Array.isArray(value) ? 0 : Object.keys(value).length
  return 1 + names + Object.values(value).reduce((sum: number, each) => sum + objectsOf(each), 0)
}

function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return 1 + Object.values(value).reduce((sum: number, each) => sum + countOf(each), 0)
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}
