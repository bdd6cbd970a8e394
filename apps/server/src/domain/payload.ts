import { ApiError } from '@botstead/contract'
import { findViolation } from '@botstead/json-schema'
import { limitSettings } from '../config/settings.js'
import { encodeJson } from '../platform/db/columns.js'
import { fieldError } from './refusals.js'

/** The stored form of a payload. Throws `LimitExceeded` if its JSON has more bytes than allowed. */
export function encodePayload(payload: unknown, maxBytes: number, field = 'payload'): string {
  const text = encodeJson(payload)
  // No character of JavaScript takes more than three bytes, so short texts need no counting.
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text
  const setting = limitSettings.messageBytes.name
  throw fieldError(
    `body.${field}`,
    `must have at most ${maxBytes} bytes of JSON, metadata included. The operator of the server can raise ${setting}.`,
    'LimitExceeded',
    { maximum: maxBytes, setting },
  )
}

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
