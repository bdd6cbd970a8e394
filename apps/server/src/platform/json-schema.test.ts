import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it, vi } from 'vitest'
import { mismatchOf, onUncheckedPattern } from './json-schema.js'

it('judges values by a schema that refers to itself', () => {
  const tree = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { left: { $ref: '#' }, name: { $ref: '#/definitions/name' } },
    definitions: { name: { type: 'string', minLength: 2 } },
  }
  expect(mismatchOf(tree, { left: { left: { name: 'ab' } } })).toBeUndefined()
  expect(mismatchOf(tree, { left: { left: { name: 'a' } } })).toEqual({
    ...{ field: 'left.left.name', rule: 'must have at least 2 characters', isAboutName: false },
  })
})

it.each([
  ['is none', { type: 'nothing' }],
  ['refers to another document', { $ref: 'https://example.com/schema.json' }],
  ['refers to what is not there', { properties: { a: { $ref: '#/definitions/a' } } }],
])('refuses nothing by a schema that %s', (_, schema) => {
  expect(mismatchOf(schema, { a: 1 })).toBeUndefined()
})

it('judges long texts by patterns that would take other engines for ever', () => {
  const long = 'a'.repeat(10_000)
  const schema = {
    properties: { name: { pattern: '^(a+)+$' } },
    patternProperties: { '^x(a+)+$': { type: 'number' } },
  }
  expect(mismatchOf(schema, { name: long, [`x${long}!`]: 'b' })).toBeUndefined()
  expect(mismatchOf(schema, { name: `${long}!` })).toMatchObject({ field: 'name' })
  expect(mismatchOf(schema, { [`x${long}`]: 'b' })).toBeDefined()
})

it('leaves out a pattern that looks around or back, says so once, and checks the rest', () => {
  const unchecked = vi.fn<(pattern: string) => void>()
  onUncheckedPattern(unchecked)
  const properties = { word: { type: 'string', pattern: '^(?!no)' }, twice: { pattern: '(a)\\1' } }
  expect(mismatchOf({ properties }, { word: 'no', twice: 'b' })).toBeUndefined()
  expect(mismatchOf({ properties }, { word: 1 })).toMatchObject({ field: 'word' })
  expect(mismatchOf({ properties, title: 'again' }, { word: 'no' })).toBeUndefined()
  expect(unchecked.mock.calls).toEqual([['^(?!no)'], ['(a)\\1']])
  onUncheckedPattern(() => {})
})

it.each([
  ['not', { not: { pattern: '^(?!no)' } }],
  ['oneOf', { oneOf: [{ pattern: '^(?!no)' }, { const: 'no' }] }],
])('refuses nothing by such a pattern under %s', (_, word) => {
  expect(mismatchOf({ properties: { word } }, { word: 'no' })).toBeUndefined()
})

it('refuses a text that is too much work for its pattern, and says where it stands', () => {
  const slow = { properties: { text: { pattern: '^(x?){500}[cd]' } } }
  expect(mismatchOf(slow, { text: 'b' })).toMatchObject({ field: 'text' })
  expect(mismatchOf(slow, { text: 'x'.repeat(100_000) })).toEqual({
    field: 'text',
    rule: 'takes too much work to check: it must be smaller, or the schema simpler',
    isAboutName: false,
  })
})

it('refuses no names by such a pattern', () => {
  const schema = {
    patternProperties: { '^(?!no)': { type: 'number' } },
    additionalProperties: false,
  }
  expect(mismatchOf(schema, { no: 'text' })).toBeUndefined()
})

it('keeps nothing of a schema that was not used for long', async () => {
  const judge = (name: string) => {
    const properties = { [name]: { type: 'string' } }
    expect(mismatchOf({ type: 'object', properties }, { [name]: 1 })).toBeDefined()
    return new WeakRef(properties)
  }
  const old = judge('old')
  for (let i = 0; i < 500; i++) judge(`new${i}`)
  await nextTurn()
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  expect(old.deref()).toBeUndefined()
})
