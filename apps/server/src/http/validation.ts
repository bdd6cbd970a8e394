import { ApiError } from '@botstead/contract'
import { describeErrors } from '@botstead/json-schema'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifySchemaValidationError } from 'fastify'

/** Keyword of {@link requireStorable}. */
const storable = 'storable'
/** Keyword of {@link requireFinite}. */
const finite = 'finite'

// Params and queries are text, so numbers and booleans in them are coerced. JSON bodies are typed:
// `1` must not silently become `"1"`.
const shared = { strict: true, strictTypes: false, allowUnionTypes: true, discriminator: true }
const textAjv = new Ajv({ ...shared, coerceTypes: true, useDefaults: true })
const bodyAjv = new Ajv({ ...shared, coerceTypes: false, useDefaults: false })
addFormats.default(textAjv)
addFormats.default(bodyAjv)
for (const ajv of [textAjv, bodyAjv]) {
  addStorableKeyword(ajv)
  addFiniteKeyword(ajv)
  addBytesKeyword(ajv)
}

/** A validator as Fastify expects it: after false, `errors` contains the reasons. */
interface RequestValidator {
  (data: unknown): boolean
  errors?: ValidateFunction['errors']
}

/**
 * Validator of one part of a request, for Fastify. It is compiled at first use, so that startup and
 * idle memory do not pay for operations that are never called.
 */
export function createValidator(input: { schema: unknown; httpPart?: string }): RequestValidator {
  const ajv = input.httpPart === 'body' ? bodyAjv : textAjv
  let compiled: ValidateFunction | undefined
  const validator: RequestValidator = (data) => {
    compiled ??= ajv.compile(storableSchemaOf(input.schema as object))
    const valid = compiled(data) === true
    validator.errors = compiled.errors
    return valid
  }
  return validator
}

/**
 * Validator of a response, for tests: a view that drifts from its contract must be noticed. It is compiled at
 * first use, as those of requests are.
 */
export function compileResponseValidator(
  schema: object,
): (response: unknown) => string | undefined {
  let compiled: ValidateFunction | undefined
  return (response) => {
    compiled ??= bodyAjv.compile(schema)
    return compiled(response) ? undefined : bodyAjv.errorsText(compiled.errors)
  }
}

/** The catalogue error for a violation; names the field and the rule. */
export function describeViolation(
  errors: readonly FastifySchemaValidationError[],
  part: string | undefined,
): ApiError {
  const where = part === 'querystring' ? 'query' : (part ?? 'body')
  const { field, rule, isAboutName } = describeErrors(errors)
  const place = field === '' ? `The ${where}` : `${where}.${field}`
  const subject = isAboutName ? `A name in ${place}` : place
  return new ApiError(
    where === 'query' ? 'InvalidQuery' : 'InvalidPayload',
    `${subject} ${rule}.`,
    {
      metadata: { in: where, ...(field !== '' && { field }) },
    },
  )
}

/** Adds a keyword that refuses texts which not every database can store, see {@link requireStorable}. */
function addStorableKeyword(ajv: Ajv): void {
  ajv.addKeyword({
    keyword: storable,
    type: 'string',
    schemaType: 'boolean',
    validate: (_: boolean, text: string) => text.isWellFormed() && !text.includes('\0'),
    error: { message: 'must be made of whole characters, without U+0000' },
  })
}

const storableSchemas = new WeakMap<object, object>()

/** The same object for the same schema, so that one process compiles it once for all its servers. */
function storableSchemaOf(schema: object): object {
  const known = storableSchemas.get(schema) ?? requireStorable(schema)
  storableSchemas.set(schema, known)
  return known
}

/**
 * The same schema, whose declared strings must consist of whole characters without U+0000:
 * PostgreSQL can neither store nor search for others, not even inside JSON, and both
 * engines must refuse the same.
 *
 * Values of any type and message payloads are exempt. They are content, stored as JSON that
 * no query reads, and half an emoji at the end of a message must not lose the rest.
 */
function requireStorable(schema: object): object {
  if ('discriminator' in schema || 'enum' in schema) return schema
  const members = Object.entries(schema).map(([name, value]) => [name, requireWithin(value)])
  // Names in a map have limits, but no type.
  const isText = 'type' in schema ? schema.type === 'string' : 'maxLength' in schema
  return {
    ...Object.fromEntries(members),
    ...(isText && { [storable]: true }),
    ...requireFinite(schema),
  }
}

/**
 * Requires that a number is finite. `Infinity` and `1e999` in a query or a path would become numbers without end
 * otherwise, which Ajv compares with no limit.
 */
function requireFinite(schema: object): object {
  const type = 'type' in schema ? schema.type : undefined
  if (type === 'integer') return { [finite]: 'an integer' }
  return type === 'number' ? { [finite]: 'a number' } : {}
}

function requireWithin(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(requireWithin)
  return typeof value === 'object' && value !== null ? requireStorable(value) : value
}

/** Adds a keyword that refuses numbers without end, see {@link requireFinite}. It has no type, because they are none to Ajv. */
function addFiniteKeyword(ajv: Ajv): void {
  ajv.addKeyword({
    keyword: finite,
    schemaType: 'string',
    validate: (_: string, value: unknown) => typeof value !== 'number' || Number.isFinite(value),
    error: { message: ({ schema }) => `must be ${String(schema)}` },
  })
}

/** Adds a keyword for the length of texts in bytes of UTF-8, reported before one in characters. */
function addBytesKeyword(ajv: Ajv): void {
  ajv.addKeyword({
    keyword: 'maxBytes',
    type: 'string',
    schemaType: 'number',
    before: 'maxLength',
    validate: (max: number, text: string) => Buffer.byteLength(text) <= max,
    error: {
      message: ({ schema }) => `must have at most ${String(schema)} bytes of UTF-8`,
    },
  })
}
