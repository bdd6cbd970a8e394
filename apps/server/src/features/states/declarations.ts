import { ApiError } from '@botstead/contract'
import { Ajv, type ValidateFunction } from 'ajv'
import { LRUCache } from 'lru-cache'

const ajv = new Ajv({ strict: false, logger: false, addUsedSchema: false })
/** By the text of the schema: many bots and states share few schemas. */
const compiled = new LRUCache<string, ValidateFunction>({ max: 500 })

/** Throws `InvalidDataFormat` unless the payload fits the declared schema. */
export function requireDeclaredShape(
  name: string,
  schema: Record<string, unknown>,
  payload: unknown,
): void {
  const fits = validatorOf(schema)
  if (fits === undefined || fits(payload)) return
  throw new ApiError(
    'InvalidDataFormat',
    `body.payload does not match the declared schema of the state ${name}: ${ajv.errorsText(fits.errors, { dataVar: 'payload' })}.`,
    { metadata: { in: 'body', field: 'payload' } },
  )
}

/** Undefined for a schema that cannot be compiled, such as one that refers to another document. */
function validatorOf(schema: Record<string, unknown>): ValidateFunction | undefined {
  // A `$schema` of another draft is welcome: the words that are shared are checked as such.
  const { $schema: _, $id: __, ...words } = schema
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
