import type { ChatAddress } from '../../domain/actor.js'
import { fieldError } from '../../domain/refusals.js'
import type { UserKeys } from './user-keys.js'

/** Details that a web chat sends about its user, as objects or as signed tokens. */
interface GivenDetails {
  userData?: Record<string, unknown> | string | null | undefined
  /** The same under another name. */
  data?: Record<string, unknown> | string | null | undefined
  attributes?: Record<string, string | null> | string | undefined
}

/** The same, read and verified. Omitted members stay unchanged. */
interface UserDetails {
  data?: Record<string, unknown> | null
  attributes?: Record<string, string | null>
}

const maxDataBytes = 16_384
const maxAttributes = 200
const maxValueLength = 2000

/** Reads the details of a user; throws `InvalidPayload` or `LimitExceeded` for what cannot be stored. */
export async function detailsOf(
  keys: Pick<UserKeys, 'readClaims'>,
  chat: ChatAddress,
  given: GivenDetails,
): Promise<UserDetails> {
  const field = given.userData === undefined ? 'data' : 'userData'
  const { userData: data = given.data, attributes } = given
  const details: UserDetails = {}
  if (data === null) details.data = null
  else if (data !== undefined) {
    const value = typeof data === 'string' ? await claimsOf(keys, chat, field, data) : data
    if (Buffer.byteLength(JSON.stringify(value)) > maxDataBytes) {
      throw fieldError(
        `body.${field}`,
        `must have at most ${maxDataBytes} bytes of JSON.`,
        'LimitExceeded',
        { maximum: maxDataBytes },
      )
    }
    details.data = value
  }
  if (typeof attributes === 'string') {
    details.attributes = toAttributes(await claimsOf(keys, chat, 'attributes', attributes))
  } else if (attributes !== undefined) details.attributes = attributes
  return details
}

async function claimsOf(
  keys: Pick<UserKeys, 'readClaims'>,
  chat: ChatAddress,
  field: string,
  token: string,
): Promise<Record<string, unknown>> {
  const claims = await keys.readClaims(chat, token)
  if (claims !== undefined) return claims
  throw fieldError(
    `body.${field}`,
    'must be an object, or a token that is signed like a user key of this chat.',
  )
}

function toAttributes(claims: Record<string, unknown>): Record<string, string | null> {
  const entries = Object.entries(claims)
  const isValid = (entry: [string, unknown]): entry is [string, string | null] =>
    entry[1] === null || (typeof entry[1] === 'string' && entry[1].length <= maxValueLength)
  if (entries.length <= maxAttributes && entries.every(isValid)) return Object.fromEntries(entries)
  throw fieldError(
    'body.attributes',
    `must have at most ${maxAttributes} claims, each a string of at most ${maxValueLength} characters.`,
  )
}
