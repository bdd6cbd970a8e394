import { Ajv, type ValidateFunction } from 'ajv'
import { LRUCache } from 'lru-cache'
import { type Broken, tellViolation } from './violations.js'

type Schema = Readonly<Record<string, unknown>>

const options = { strict: false, logger: false } as const
/** Judges schemas; it compiles none of them. */
const ajv = new Ajv(options)
/** By the text of the schema: many owners share few schemas. */
const compiled = new LRUCache<string, ValidateFunction>({ max: 500 })
/** By the schema itself, the same object while its owner is remembered; null cannot be compiled. */
const known = new WeakMap<Schema, ValidateFunction | null>()

/**
 * What is wrong with a value by a JSON Schema that a user has written; undefined if it fits.
 * A schema that cannot be compiled, such as one that refers to another document, refuses nothing.
 */
export function mismatchOf(schema: Schema, value: unknown): Broken | undefined {
  const fits = validatorOf(schema)
  if (fits === null || fits(value)) return undefined
  return tellViolation(fits.errors ?? [])
}

/** What is wrong with a JSON Schema; undefined if it is one. */
export function schemaFaultOf(schema: Schema): string | undefined {
  return ajv.validateSchema(wordsOf(schema)) ? undefined : ajv.errorsText(ajv.errors)
}

function validatorOf(schema: Schema): ValidateFunction | null {
  const found = known.get(schema)
  if (found !== undefined) return found
  const validator = compile(wordsOf(schema))
  known.set(schema, validator)
  return validator
}

function compile(words: Schema): ValidateFunction | null {
  const text = JSON.stringify(words)
  const found = compiled.get(text)
  if (found !== undefined) return found
  try {
    if (!ajv.validateSchema(words)) return null
    // One for each schema: it keeps all that it has ever compiled, also what nobody remembers any more.
    const validate = new Ajv({ ...options, validateSchema: false }).compile(words)
    compiled.set(text, validate)
    return validate
  } catch {
    return null
  }
}

/** A `$schema` of another draft is welcome: the words that are shared are checked as such. */
function wordsOf({ $schema: _, $id: __, ...words }: Schema): Schema {
  return words
}
