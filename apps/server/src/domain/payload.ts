import { ApiError } from '@botstead/contract'
import { limitSettings } from '../config/limit-settings.js'
import { encodeJson } from '../platform/db/columns.js'

/** The stored form of a payload. Throws `LimitExceeded` if its JSON has more bytes than allowed. */
export function encodePayload(payload: unknown, maxBytes: number, field = 'payload'): string {
  const text = encodeJson(payload)
  // No character of JavaScript takes more than three bytes, so short texts need no counting.
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text
  const setting = limitSettings.messageBytes.name
  throw new ApiError(
    'LimitExceeded',
    `body.${field} must have at most ${maxBytes} bytes of JSON, metadata included. The operator of the server can raise ${setting}.`,
    { metadata: { in: 'body', field, maximum: maxBytes, setting } },
  )
}
