import { ApiError } from '@botstead/contract'
import { mismatchOf } from '../../platform/json-schema.js'

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
  const mismatch = mismatchOf(schema, value)
  if (mismatch === undefined) return
  const place = mismatch.field === '' ? field : `${field}.${mismatch.field}`
  const subject = mismatch.isAboutName ? `A name in body.${place}` : `body.${place}`
  throw new ApiError(
    'InvalidDataFormat',
    `${subject} ${mismatch.rule}, by the schema of ${declared}.`,
    { metadata: { in: 'body', field: place } },
  )
}
