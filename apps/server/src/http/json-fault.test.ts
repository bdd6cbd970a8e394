import fc from 'fast-check'
import { expect, it } from 'vitest'
import { jsonFaultOf } from './json-body.js'

it.each([
  ['{"a": 1,}', 'line 1, column 9: expected a name in double quotes, found "}"'],
  ['{\n "a": 1\n "b": 2}', 'line 3, column 2: expected a comma or }, found "\\""'],
  ["{'a': 1}", 'line 1, column 2: expected a name in double quotes or }, found "\'"'],
  ['[1, 02]', 'line 1, column 5: expected a value, found "0"'],
  ['{"a": tru}', 'line 1, column 7: expected a value, found "t"'],
  ['{"a" 1}', 'line 1, column 6: expected a colon, found "1"'],
  ['[1}', 'line 1, column 3: expected a comma or ], found "}"'],
  ['{} x', 'line 1, column 4: expected the end of the text, found "x"'],
  ['"a\nb"', 'line 1, column 1: expected a value, found "\\""'],
  ['"\\N"', 'line 1, column 1: expected a value, found "\\""'],
  ['{"a": "b', 'line 1, column 7: expected a value, found "\\""'],
  ['{"a": 1', 'unexpected end of the text, expected a comma or }'],
  ['', 'unexpected end of the text, expected a value'],
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
  expect(jsonFaultOf(long)).toContain('unexpected end')
  expect(jsonFaultOf(`${long}]`)).toBeUndefined()
})

it('fails at once on an unterminated string', () => {
  for (const some of ['a', 'ab\\n', '\u007f']) {
    expect(jsonFaultOf(`["${some.repeat(50_000)}`)).toContain('expected a value or ]')
    expect(jsonFaultOf(`{"${some.repeat(50_000)}\n"`)).toContain(', found ')
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
