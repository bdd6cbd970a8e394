import { ApiError } from '@botstead/contract'
import { isoTime } from '../../../platform/clock.js'
import { newSigningSecret } from '../../../platform/ids.js'
import type { Sealer } from '../../../platform/security/sealing.js'

/** Secrets of a bot or an integration as they are stored: name to sealed value. */
export type SealedSecrets = Record<string, string>

const mostSecrets = 25
const secretName = /^[A-Z][A-Z0-9_]{0,99}$/

/** A value sets, `null` removes, a name that is not mentioned stays. */
export function mergeSecrets(
  sealer: Sealer,
  current: SealedSecrets,
  patch: Record<string, string | null> | undefined,
): SealedSecrets {
  if (patch === undefined) return current
  const next = new Map(Object.entries(current))
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) {
      next.delete(name)
      continue
    }
    if (!secretName.test(name)) {
      throw new ApiError(
        'InvalidPayload',
        `body.secrets.${name} must be named in capital letters, digits and underscores.`,
      )
    }
    next.set(name, sealer.seal(value))
  }
  if (next.size > mostSecrets) {
    throw new ApiError('LimitExceeded', `body.secrets may hold ${mostSecrets} entries.`)
  }
  return Object.fromEntries(next)
}

/** The secrets that sign calls as they are stored, sealed: after a rotation the one before signs too. */
export interface SigningSecrets {
  current: string
  previous: string | null
  /** ISO 8601 time until which `previous` signs; null without one. */
  previousUntil: string | null
}

/** Milliseconds that the signing secret before the newest still signs. */
const overlapMs = 24 * 60 * 60 * 1000

/**
 * A new signing secret in place of the current one.
 * @param nowMilliseconds since the Unix epoch
 * @returns the secret in clear, and what is to be stored
 */
export function rotateSigningSecret(
  sealer: Sealer,
  current: string,
  nowMilliseconds: number,
): { secret: string; stored: SigningSecrets } {
  const secret = newSigningSecret()
  return {
    secret,
    stored: {
      current: sealer.seal(secret),
      previous: current,
      previousUntil: isoTime(nowMilliseconds + overlapMs),
    },
  }
}

/**
 * The secrets that sign calls now, in clear, the newest first.
 * @param now as an ISO 8601 time
 */
export function openSigningSecrets(
  sealer: Sealer,
  { current, previous, previousUntil }: SigningSecrets,
  now: string,
): string[] {
  const newest = sealer.open(current)
  if (previous === null || previousUntil === null || previousUntil <= now) return [newest]
  return [newest, sealer.open(previous)]
}
