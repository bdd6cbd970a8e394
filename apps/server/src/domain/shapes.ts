import { ApiError } from '@botstead/contract'
import { findViolation } from '@botstead/json-schema'

/**
 * Throws `InvalidDataFormat` unless a member of the body fits a declared JSON Schema.
 * @param field path of the member in the body
 * @param declared what has the schema, such as `the state order`
 */
export function requireShape(
  schema: Record<string, unknown>,
  value: unknown,
  field: string,
  declared: string,
): void {
  const violation = findViolation(schema, value)
  if (violation === undefined) return
  const path = violation.field === '' ? field : `${field}.${violation.field}`
  const subject = violation.isAboutName ? `A name in body.${path}` : `body.${path}`
  throw new ApiError(
    'InvalidDataFormat',
    `${subject} ${violation.rule}, by the schema of ${declared}.`,
    { metadata: { in: 'body', field: path } },
  )
}
