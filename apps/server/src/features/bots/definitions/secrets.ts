import { ApiError } from '@botstead/contract'
import { isoTime } from '../../../platform/clock.js'
import { newSigningSecret } from '../../../platform/ids.js'
import type { Sealer } from '../../../platform/security/sealing.js'

/** Secrets of a bot or an integration as stored: name to sealed value. */
export type SealedSecrets = Record<string, string>

const maxSecrets = 25
const secretName = /^[A-Z][A-Z0-9_]{0,99}$/

/** A value sets a secret, `null` removes it; other secrets stay. */
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
  if (next.size > maxSecrets) {
    throw new ApiError('LimitExceeded', `body.secrets may hold ${maxSecrets} entries.`)
  }
  return Object.fromEntries(next)
}

/**
 * The secrets that sign calls, as stored and sealed: after a rotation the previous one also signs.
 */
export interface SigningSecrets {
  current: string
  previous: string | null
  /** ISO 8601 time until which `previous` signs; null without one. */
  previousUntil: string | null
}

/** Milliseconds that the previous signing secret still signs. */
const overlapMs = 24 * 60 * 60 * 1000

/**
 * Replaces the current signing secret.
 * @param nowMilliseconds since the Unix epoch
 * @returns the secret in clear, and the columns to store
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
