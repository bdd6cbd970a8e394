import fc from 'fast-check'
import { expect, it } from 'vitest'
import { jsonFaultOf } from './json-body.js'

it.each([
  ['{"a": 1,}', 'line 1, column 9: a name in double quotes must stand where "}" begins'],
  ['{\n "a": 1\n "b": 2}', 'line 3, column 2: a comma or } must stand where "\\"" stands'],
  ["{'a': 1}", 'line 1, column 2: a name in double quotes or } must stand where "\'" begins'],
  ['[1, 02]', 'line 1, column 5: a value must stand where "0" begins'],
  ['{"a": tru}', 'line 1, column 7: a value must stand where "t" begins'],
  ['{"a" 1}', 'line 1, column 6: a colon must stand where "1" stands'],
  ['[1}', 'line 1, column 3: a comma or ] must stand where "}" stands'],
  ['{} x', 'line 1, column 4: the end must stand where "x" stands'],
  ['"a\nb"', 'line 1, column 1: a value must stand where "\\"" begins'],
  ['"\\N"', 'line 1, column 1: a value must stand where "\\"" begins'],
  ['{"a": "b', 'line 1, column 7: a value must stand where "\\"" begins'],
  ['{"a": 1', 'it ends where a comma or } must stand'],
  ['', 'it ends where a value must stand'],
])('%j: %s', (json, fault) => {
  expect(jsonFaultOf(json)).toBe(fault)
})

it('finds a fault where JSON.parse does, and only there', () => {
  const cuts = fc.array(
    fc.tuple(fc.nat(60), fc.nat(3), fc.constantFrom(...'{}[]",:\\\n\t01e-. tu\u007f\u2028')),
    {
      maxLength: 3,
    },
  )
  fc.assert(
    fc.property(fc.json({ maxDepth: 3 }), cuts, (json, changes) => {
      let text = json
      for (const [at, length, put] of changes) {
        text = text.slice(0, at) + put + text.slice(at + length)
      }
      expect(jsonFaultOf(text) === undefined).toBe(parses(text))
    }),
    { numRuns: 500 },
  )
})

it('reads a large text with one very long string', () => {
  const long = `["${'ab\\n'.repeat(250_000)}"`
  expect(jsonFaultOf(long)).toContain('it ends')
  expect(jsonFaultOf(`${long}]`)).toBeUndefined()
})

it('fails at once on an unterminated string', () => {
  for (const some of ['a', 'ab\\n', '\u007f']) {
    expect(jsonFaultOf(`["${some.repeat(50_000)}`)).toContain('a value or ] must stand')
    expect(jsonFaultOf(`{"${some.repeat(50_000)}\n"`)).toContain('must stand where')
  }
})

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
