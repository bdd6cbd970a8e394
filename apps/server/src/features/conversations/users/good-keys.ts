import { ApiError } from '@botstead/contract'
import type { UserRow } from './store.js'

/** Revocation and ban of a user. */
type KeyState = Pick<UserRow, 'banned' | 'keys_revoked_at'>

/**
 * Whether a key of a user is accepted.
 * @param issuedAt milliseconds since the Unix epoch; undefined for a key without it
 */
export function isGoodKey(state: KeyState, issuedAt: number | undefined): boolean {
  return state.banned !== 1 && !isRevoked(state, issuedAt)
}

/** @throws ApiError with the reason why a key is not accepted */
export function requireGoodKey(state: KeyState, issuedAt: number | undefined): void {
  requireNotBanned(state)
  if (!isRevoked(state, issuedAt)) return
  throw new ApiError(
    'Unauthorized',
    'The user key in x-user-key was revoked, or its user was deleted. A key that an app signs needs an `iat` later than that.',
  )
}

/** @throws ApiError if the user is banned */
export function requireNotBanned({ banned }: Pick<KeyState, 'banned'>): void {
  if (banned === 1) throw new ApiError('Forbidden', 'This user is banned from the chat.')
}

/** A key that does not say when it was issued counts as old. */
function isRevoked({ keys_revoked_at }: KeyState, issuedAt: number | undefined): boolean {
  if (keys_revoked_at === null) return false
  return issuedAt === undefined || issuedAt <= Date.parse(keys_revoked_at)
}
