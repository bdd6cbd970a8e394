import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { findViolation, listUncheckedPatterns } from '../src/validation.js'

it('validates values against a recursive schema', () => {
  const tree = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { left: { $ref: '#' }, name: { $ref: '#/definitions/name' } },
    definitions: { name: { type: 'string', minLength: 2 } },
  }
  expect(findViolation(tree, { left: { left: { name: 'ab' } } })).toBeUndefined()
  expect(findViolation(tree, { left: { left: { name: 'a' } } })).toEqual({
    field: 'left.left.name',
    rule: 'must have at least 2 characters',
    isAboutName: false,
  })
})

it.each([
  ['is none', { type: 'nothing' }],
  ['refers to another document', { $ref: 'https://example.com/schema.json' }],
  ['refers to what is not there', { properties: { a: { $ref: '#/definitions/a' } } }],
])('refuses nothing because of a schema that %s', (_, schema) => {
  expect(findViolation(schema, { a: 1 })).toBeUndefined()
})

it('validates long texts against patterns on which a backtracking engine would not end', () => {
  const long = 'a'.repeat(10_000)
  const schema = {
    properties: { name: { pattern: '^(a+)+$' } },
    patternProperties: { '^x(a+)+$': { type: 'number' } },
  }
  expect(findViolation(schema, { name: long, [`x${long}!`]: 'b' })).toBeUndefined()
  expect(findViolation(schema, { name: `${long}!` })).toMatchObject({ field: 'name' })
  expect(findViolation(schema, { [`x${long}`]: 'b' })).toBeDefined()
})

it('accepts every text for a pattern with look-around or back-references, lists it, and checks the rest', () => {
  const properties = { word: { type: 'string', pattern: '^(?!no)' }, twice: { pattern: '(a)\\1' } }
  const schema = { properties, items: { pattern: '^(?!no)' } }
  expect(findViolation(schema, { word: 'no', twice: 'b' })).toBeUndefined()
  expect(findViolation(schema, { word: 1 })).toMatchObject({ field: 'word' })
  expect(listUncheckedPatterns(schema)).toEqual(['^(?!no)', '(a)\\1'])
  expect(listUncheckedPatterns({ pattern: '^a+$' })).toEqual([])
})

it.each([
  ['not', { not: { pattern: '^(?!no)' } }],
  ['oneOf', { oneOf: [{ pattern: '^(?!no)' }, { const: 'no' }] }],
])('refuses nothing because of such a pattern under %s', (_, operand) => {
  expect(findViolation({ properties: { operand } }, { operand: 'no' })).toBeUndefined()
})

it('refuses a text that is too much work for its pattern, and names its field', () => {
  const slow = { properties: { text: { pattern: '^(x?){500}[cd]' } } }
  expect(findViolation(slow, { text: 'b' })).toMatchObject({ field: 'text' })
  expect(findViolation(slow, { text: 'x'.repeat(100_000) })).toEqual({
    field: 'text',
    rule: 'takes too much work to check: it must be smaller, or the schema simpler',
    isAboutName: false,
  })
})

it('refuses no names because of such a pattern', () => {
  const schema = {
    patternProperties: { '^(?!no)': { type: 'number' } },
    additionalProperties: false,
  }
  expect(findViolation(schema, { no: 'text' })).toBeUndefined()
})

it('releases a schema that has not been used for long', async () => {
  const judge = (name: string) => {
    const properties = { [name]: { type: 'string' } }
    expect(findViolation({ type: 'object', properties }, { [name]: 1 })).toBeDefined()
    return new WeakRef(properties)
  }
  const old = judge('old')
  for (let i = 0; i < 500; i++) judge(`new${i}`)
  await nextTurn()
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  expect(old.deref()).toBeUndefined()
})
