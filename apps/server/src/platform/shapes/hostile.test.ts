import { expect, it } from 'vitest'
import { hostilePairs, many } from '../../../test/hostile-schemas.js'
import { mismatchOf, schemaFaultOf } from '../json-schema.js'

it('refuses schemas that lead back to themselves in place, and values by those that were there before', () => {
  const circles = [
    { $ref: '#' },
    { allOf: [{ $ref: '#/definitions/a' }], definitions: { a: { not: { $ref: '#' } } } },
    { anyOf: [{ type: 'string' }, { dependencies: { a: { $ref: '#' } } }] },
  ]
  for (const circle of circles) {
    expect(schemaFaultOf(circle)).toContain('leads back to itself')
    expect(mismatchOf(circle, { a: 1 })?.rule).toContain('too much work')
  }
  const chain = Array.from({ length: 2000 }, (_, at) => [at, { $ref: `#/definitions/${at + 1}` }])
  const long = { $ref: '#/definitions/0', definitions: { ...Object.fromEntries(chain), 2000: {} } }
  expect(schemaFaultOf(long)).toContain('too deep')
  expect(schemaFaultOf({ pattern: '\\p{L}'.repeat(2000) })).toContain('patterns')
  const names = many(10, (at) => [`a${at}`, { pattern: `^[A-Za-z0-9_-]{1,25${at}}$` }])
  expect(schemaFaultOf({ properties: Object.fromEntries(names) })).toBeUndefined()
  expect(schemaFaultOf({ items: { $ref: '#' }, properties: { a: { $ref: '#' } } })).toBeUndefined()
})

// Without a bound some of these do not end, and the others hold up everybody for seconds: how long they
// take is printed by `npm run bench -- schemas`.
it.each(hostilePairs)('bounds the work of $name', ({ schema, value, rule }) => {
  expect(schemaFaultOf(schema)).toBeUndefined()
  const told = mismatchOf(schema, value)?.rule
  if (rule === undefined) expect(told).toBeUndefined()
  else expect(told).toContain(rule)
})
