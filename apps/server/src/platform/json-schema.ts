import { Ajv, type ValidateFunction } from 'ajv'
import { LRUCache } from 'lru-cache'

type Schema = Readonly<Record<string, unknown>>

const ajv = new Ajv({ strict: false, logger: false, addUsedSchema: false })
/** By the text of the schema: many owners share few schemas. */
const compiled = new LRUCache<string, ValidateFunction>({ max: 500 })

/**
 * What is wrong with a value by a JSON Schema that a user has written; undefined if it fits.
 * A schema that cannot be compiled, such as one that refers to another document, refuses nothing.
 *
 * @param name what the value is called in the text
 */
export function mismatchOf(schema: Schema, value: unknown, name: string): string | undefined {
  const fits = validatorOf(schema)
  if (fits === undefined || fits(value)) return undefined
  return ajv.errorsText(fits.errors, { dataVar: name })
}

/** What is wrong with a JSON Schema; undefined if it is one. */
export function schemaFaultOf(schema: Schema): string | undefined {
  return ajv.validateSchema(wordsOf(schema)) ? undefined : ajv.errorsText(ajv.errors)
}

function validatorOf(schema: Schema): ValidateFunction | undefined {
  const words = wordsOf(schema)
  const text = JSON.stringify(words)
  const known = compiled.get(text)
  if (known !== undefined) return known
  try {
    const validate = ajv.compile(words)
    compiled.set(text, validate)
    return validate
  } catch {
    return undefined
  }
}

/** A `$schema` of another draft is welcome: the words that are shared are checked as such. */
function wordsOf({ $schema: _, $id: __, ...words }: Schema): Schema {
  return words
}
