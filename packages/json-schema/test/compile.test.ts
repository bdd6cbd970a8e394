import { Ajv } from 'ajv'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compileSchema } from '../src/compile.js'
import { findViolation } from '../src/validation.js'

const options = { strict: false, logger: false, validateSchema: false } as const
const names = ['a', 'b', 'c', 'ab']
const name = fc.constantFrom(...names)
const count = fc.nat(3)

/** Values in which equal parts and the names of the schemas below are likely. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, 1, -0, 1.5, 2, 4, '', 'a', 'b', 'ab', '😀', 'aaaa'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))

const type = fc.constantFrom('null', 'boolean', 'number', 'integer', 'string', 'array', 'object')
const limit = fc.constantFrom(0, 1, 2, 3, 1.5)
const texts = fc.uniqueArray(name, { maxLength: 2 })
const pattern = fc.constantFrom('^a', 'b$', '^.{1,2}$', 'a|b', '^(a|aa)+$')

const { schema } = fc.letrec((tie) => {
  const schema = tie('schema')
  const list = fc.array(schema, { minLength: 1, maxLength: 3 })
  const map = (names: fc.Arbitrary<string>, values: fc.Arbitrary<unknown>) =>
    fc.dictionary(names, values, { minKeys: 1, maxKeys: 2, noNullPrototype: true })
  const words: Record<string, fc.Arbitrary<unknown>> = {
    type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1 })),
    $ref: fc.constantFrom('#', '#/definitions/a'),
    enum: fc.array(value, { minLength: 1, maxLength: 3 }),
    const: value,
    minimum: limit,
    maximum: limit,
    exclusiveMinimum: limit,
    exclusiveMaximum: limit,
    multipleOf: fc.constantFrom(1, 2, 0.5),
    minLength: count,
    maxLength: count,
    pattern,
    minItems: count,
    maxItems: count,
    uniqueItems: fc.boolean(),
    items: fc.oneof(schema, list),
    additionalItems: schema,
    contains: schema,
    minProperties: count,
    maxProperties: count,
    required: texts,
    properties: map(name, schema),
    patternProperties: map(pattern, schema),
    additionalProperties: schema,
    propertyNames: schema,
    dependencies: map(name, fc.oneof(schema, texts)),
    allOf: list,
    anyOf: list,
    oneOf: list,
    not: schema,
    if: schema,
    // biome-ignore lint/suspicious/noThenProperty: a operand of JSON Schema
    then: schema,
    else: schema,
  }
  const pairs = Object.entries(words).map(([operand, arbitrary]) =>
    fc.tuple(fc.constant(operand), arbitrary),
  )
  return {
    schema: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      { weight: 1, arbitrary: fc.boolean() },
      {
        weight: 9,
        arbitrary: fc.array(fc.oneof(...pairs), { minLength: 1, maxLength: 4 }).map(toSchema),
      },
    ),
  }
})

/** The other validator ignores `contains` for an empty list when there is also a list of `items`. */
function toSchema(pairs: [string, unknown][]): object {
  const { contains, ...words } = Object.fromEntries(pairs)
  const isLeftOut = contains === undefined || Array.isArray(words.items)
  return isLeftOut ? words : { ...words, contains }
}

it('judges every value like a validator of the same draft', () => {
  let judged = 0
  let refused = 0
  fc.assert(
    fc.property(
      schema,
      schema,
      fc.array(value, { minLength: 5, maxLength: 5 }),
      (root, a, values) => {
        const whole = { allOf: [root], definitions: { a } }
        // Circular schemas are refused when they are stored, and never end in the other validator.
        fc.pre(!compileSchema(whole).isCircular)
        const peer = new Ajv(options).compile(whole)
        for (const one of values) {
          const violation = findViolation(whole, one)
          expect(violation === undefined, JSON.stringify({ whole, one, violation })).toBe(peer(one))
          judged += 1
          if (violation !== undefined) refused += 1
        }
      },
    ),
    { numRuns: 300 },
  )
  // Checks that the generated schemas neither accept nor refuse everything.
  expect(refused / judged).toBeGreaterThan(0.1)
  expect(refused / judged).toBeLessThan(0.95)
})
