import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { mismatchOf } from './json-schema.js'

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
