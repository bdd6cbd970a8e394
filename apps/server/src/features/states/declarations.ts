import { ApiError } from '@botstead/contract'
import { mismatchOf } from '../../platform/json-schema.js'

/** Throws `InvalidDataFormat` unless the payload fits the declared schema. */
export function requireDeclaredShape(
  name: string,
  schema: Record<string, unknown>,
  payload: unknown,
): void {
  const mismatch = mismatchOf(schema, payload, 'payload')
  if (mismatch === undefined) return
  throw new ApiError(
    'InvalidDataFormat',
    `body.payload does not match the declared schema of the state ${name}: ${mismatch}.`,
    { metadata: { in: 'body', field: 'payload' } },
  )
}
