import { cpuUsage } from 'node:process'
import { expect, it } from 'vitest'
import { mismatchOf, schemaFaultOf } from '../json-schema.js'

const many = <T>(length: number, one: (at: number) => T): T[] =>
  Array.from({ length }, (_, at) => one(at))
const map = (length: number, one: (at: number) => [string, unknown]) =>
  Object.fromEntries(many(length, one))
const deep = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))
const doubling = (depth: number, word: string) => ({
  definitions: map(depth, (at) => {
    const next = { $ref: `#/definitions/${at + 1}` }
    return [`${at}`, { [word]: [next, next, next] }]
  }),
  $ref: '#/definitions/0',
})

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

/** Twice what is promised, for slow machines and tools that measure coverage. */
const mostMilliseconds = 100

/** Schemas and values of about 100 KB that are made to be slow. */
const hostile: [string, Record<string, unknown>, unknown][] = [
  ['equal items, nearly', { uniqueItems: true }, many(20_000, (at) => ({ a: at }))],
  [
    'lists that are long and compared',
    { items: { uniqueItems: true } },
    many(100, () => many(300, (at) => [at])),
  ],
  ['references that double', doubling(30, 'anyOf'), 1],
  ['one of many, each of many', doubling(30, 'oneOf'), { a: 1 }],
  [
    'branches over every item',
    {
      items: { anyOf: many(2000, (at) => ({ properties: { a: { const: at } }, required: ['a'] })) },
    },
    many(8000, () => ({ a: -1 })),
  ],
  [
    'a tree in itself',
    {
      anyOf: [
        { items: { $ref: '#' }, type: 'string' },
        { items: { $ref: '#' }, type: 'number' },
        { items: { $ref: '#' } },
      ],
    },
    deep(480),
  ],
  [
    'many names, many patterns',
    {
      patternProperties: map(300, (at) => [`^${at}.*x$`, {}]),
    },
    map(5000, (at) => [`${at}aaaaaaaaaa`, 1]),
  ],
  ['a pattern that goes back', { pattern: '^(a+)+$' }, `${'a'.repeat(130_000)}!`],
  ['a pattern that repeats', { pattern: '(x?){900}y' }, 'x'.repeat(130_000)],
  [
    'every item by a pattern',
    { items: { pattern: '([a-z]?){500}!' } },
    many(2000, () => 'a'.repeat(50)),
  ],
  [
    'many allowed values',
    { items: { enum: many(10_000, (at) => ({ at })) } },
    many(10_000, (at) => ({ at })),
  ],
  [
    'many required names',
    { items: { required: many(9000, (at) => `a${at}`) } },
    many(20_000, () => ({})),
  ],
  [
    'many names that depend',
    {
      items: {
        dependencies: map(5000, (at) => [`a${at}`, ['b']]),
      },
    },
    many(20_000, () => ({})),
  ],
  [
    'contained nowhere',
    { items: { contains: { const: many(1000, (at) => at) } } },
    many(100, () => many(300, () => many(10, (at) => at))),
  ],
  [
    'very long names',
    { additionalProperties: { anyOf: many(500, () => ({ type: 'null' })) } },
    { ['n'.repeat(120_000)]: 1 },
  ],
]

it.each(hostile)('bounds the work of %s', (_, schema, value) => {
  schemaFaultOf(schema)
  mismatchOf(schema, value)
  expect(fastest(() => schemaFaultOf(schema))).toBeLessThan(mostMilliseconds)
  expect(fastest(() => mismatchOf(structuredClone(schema), value))).toBeLessThan(mostMilliseconds)
})

/** Milliseconds of processor time: the best of three, because other tests run beside this one. */
function fastest(work: () => void): number {
  const times = [0, 1, 2].map(() => {
    const before = cpuUsage()
    work()
    const { user, system } = cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.min(...times)
}
