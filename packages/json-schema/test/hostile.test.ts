import { expect, it } from 'vitest'
import { findSchemaFault, findViolation } from '../src/validation.js'
import { hostilePairs, many } from './hostile-schemas.js'

it('refuses circular schemas, and values by circular schemas that were stored before', () => {
  const circles = [
    { $ref: '#' },
    { allOf: [{ $ref: '#/definitions/a' }], definitions: { a: { not: { $ref: '#' } } } },
    { anyOf: [{ type: 'string' }, { dependencies: { a: { $ref: '#' } } }] },
  ]
  for (const circle of circles) {
    expect(findSchemaFault(circle)).toContain('leads back to itself')
    expect(findViolation(circle, { a: 1 })?.rule).toContain('too much work')
  }
  const chain = Array.from({ length: 2000 }, (_, at) => [at, { $ref: `#/definitions/${at + 1}` }])
  const long = { $ref: '#/definitions/0', definitions: { ...Object.fromEntries(chain), 2000: {} } }
  expect(findSchemaFault(long)).toContain('too deep')
  expect(findSchemaFault({ pattern: '\\p{L}'.repeat(2000) })).toContain('patterns')
  const names = many(10, (at) => [`a${at}`, { pattern: `^[A-Za-z0-9_-]{1,25${at}}$` }])
  expect(findSchemaFault({ properties: Object.fromEntries(names) })).toBeUndefined()
  expect(
    findSchemaFault({ items: { $ref: '#' }, properties: { a: { $ref: '#' } } }),
  ).toBeUndefined()
})

// Without a limit some of these do not end, and the others block the server for seconds: how long they
// take is printed by `npm run bench -- schemas`.
it.each(hostilePairs)('bounds the work of $name', ({ schema, value, rule }) => {
  expect(findSchemaFault(schema)).toBeUndefined()
  const broken = findViolation(schema, value)?.rule
  if (rule === undefined) expect(broken).toBeUndefined()
  else expect(broken).toContain(rule)
})
