import { ApiError } from '@botstead/contract'
import type { Sealer } from '../../../platform/security/sealing.js'
import type { BotsTable } from './table.js'

/** Secrets of a bot as they are stored: name to sealed value. */
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

/** The secrets that sign calls now, the newest first. */
export function liveSecrets(
  sealer: Sealer,
  bot: Pick<BotsTable, 'signing_secret' | 'previous_signing_secret' | 'previous_secret_until'>,
  now: string,
): string[] {
  const newest = sealer.open(bot.signing_secret)
  const { previous_signing_secret: previous, previous_secret_until: until } = bot
  if (previous === null || until === null || until <= now) return [newest]
  return [newest, sealer.open(previous)]
}
