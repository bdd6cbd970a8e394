import { ApiError } from '@botstead/contract'
import { describeErrors } from '@botstead/json-schema'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifySchemaValidationError } from 'fastify'
import { addBytesKeyword } from './bounded-texts.js'
import { addStorableKeyword, requireStorable } from './storable-texts.js'

// Params and queries are text, so numbers and booleans in them are coerced. A JSON body says what
// it means: `1` must not silently become `"1"`.
const shared = { strict: true, strictTypes: false, allowUnionTypes: true, discriminator: true }
const textAjv = new Ajv({ ...shared, coerceTypes: true, useDefaults: true })
const bodyAjv = new Ajv({ ...shared, coerceTypes: false, useDefaults: false })
addFormats.default(textAjv)
addFormats.default(bodyAjv)
for (const ajv of [textAjv, bodyAjv]) {
  addStorableKeyword(ajv)
  addBytesKeyword(ajv)
}

/** A validator as Fastify takes it: after false, `errors` says why. */
interface RequestValidator {
  (data: unknown): boolean
  errors?: ValidateFunction['errors']
}

/**
 * Validator of one part of a request, for Fastify. It is compiled at its first use: a start and the
 * memory at rest do not pay for operations that nobody calls.
 */
export function createValidator(input: { schema: unknown; httpPart?: string }): RequestValidator {
  const ajv = input.httpPart === 'body' ? bodyAjv : textAjv
  let compiled: ValidateFunction | undefined
  const validator: RequestValidator = (data) => {
    compiled ??= ajv.compile(requireStorable(input.schema as object))
    const valid = compiled(data) === true
    validator.errors = compiled.errors
    return valid
  }
  return validator
}

/** Validator of an answer, for tests: a view that drifts from its contract must not go unnoticed. */
export function compileAnswerValidator(schema: object): (answer: unknown) => string | undefined {
  const validate = bodyAjv.compile(schema)
  return (answer) => (validate(answer) ? undefined : bodyAjv.errorsText(validate.errors))
}

/** The catalogue error for a broken rule: names the field and the rule. */
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
