/** A list of a given length. */
export const many = <T>(length: number, one: (at: number) => T): T[] =>
  Array.from({ length }, (_, at) => one(at))
const map = (length: number, one: (at: number) => [string, unknown]) =>
  Object.fromEntries(many(length, one))
const deep = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))

/** Definitions of which each refers to the next one three times. */
function doubling(depth: number, word: string): Record<string, unknown> {
  const chain = map(depth, (at) => {
    const next = { $ref: `#/definitions/${at + 1}` }
    return [`${at}`, { [word]: [next, next, next] }]
  })
  return { definitions: { ...chain, [depth]: { type: 'string' } }, $ref: '#/definitions/0' }
}

/** A schema and a value of about 100 KB that are designed to be slow. */
export interface HostilePair {
  name: string
  schema: Record<string, unknown>
  value: unknown
  /** A part of the violated rule; undefined where the value is valid. */
  rule: string | undefined
}

const tooMuch = 'takes too much work'

export const hostilePairs: readonly HostilePair[] = [
  {
    name: 'items that are nearly equal',
    schema: { uniqueItems: true },
    value: many(20_000, (at) => ({ a: at })),
    rule: undefined,
  },
  {
    name: 'lists that are long and compared',
    schema: { items: { uniqueItems: true } },
    value: many(100, () => many(300, (at) => [at])),
    rule: undefined,
  },
  { name: 'any of, in powers', schema: doubling(30, 'anyOf'), value: 1, rule: tooMuch },
  { name: 'one of, in powers', schema: doubling(30, 'oneOf'), value: { a: 1 }, rule: tooMuch },
  {
    name: 'branches over every item',
    schema: {
      items: { anyOf: many(2000, (at) => ({ properties: { a: { const: at } }, required: ['a'] })) },
    },
    value: many(8000, () => ({ a: -1 })),
    rule: 'must be one of 0',
  },
  {
    name: 'a tree in itself',
    schema: {
      anyOf: [
        { items: { $ref: '#' }, type: 'string' },
        { items: { $ref: '#' }, type: 'number' },
        { items: { $ref: '#' } },
      ],
    },
    value: deep(480),
    rule: tooMuch,
  },
  {
    name: 'many names, many patterns',
    schema: { patternProperties: map(300, (at) => [`^${at}.*x$`, {}]) },
    value: map(5000, (at) => [`${at}aaaaaaaaaa`, 1]),
    rule: tooMuch,
  },
  {
    name: 'a pattern that goes back',
    schema: { pattern: '^(a+)+$' },
    value: `${'a'.repeat(130_000)}!`,
    rule: tooMuch,
  },
  {
    name: 'a pattern that repeats',
    schema: { pattern: '(x?){900}y' },
    value: 'x'.repeat(130_000),
    rule: tooMuch,
  },
  {
    name: 'every item by a pattern',
    schema: { items: { pattern: '([a-z]?){500}!' } },
    value: many(2000, () => 'a'.repeat(50)),
    rule: 'must match',
  },
  {
    name: 'many allowed values',
    schema: { items: { enum: many(10_000, (at) => ({ at })) } },
    value: many(10_000, (at) => ({ at })),
    rule: undefined,
  },
  {
    name: 'many required names',
    schema: { items: { required: many(9000, (at) => `a${at}`) } },
    value: many(20_000, () => ({})),
    rule: 'is required',
  },
  {
    name: 'many names that depend',
    schema: { items: { dependencies: map(5000, (at) => [`a${at}`, ['b']]) } },
    value: many(20_000, () => ({})),
    rule: tooMuch,
  },
  {
    name: 'contained nowhere',
    schema: { items: { contains: { const: many(1000, (at) => at) } } },
    value: many(100, () => many(300, () => many(10, (at) => at))),
    rule: 'must have an item',
  },
  {
    name: 'very long names',
    schema: { additionalProperties: { anyOf: many(500, () => ({ type: 'null' })) } },
    value: { ['n'.repeat(120_000)]: 1 },
    rule: tooMuch,
  },
]
