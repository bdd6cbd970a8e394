import { ApiError } from '@botstead/contract'
import type { Browser } from '../../../domain/browser.js'
import { type Clock, isoTime } from '../../../platform/clock.js'

/** Sign-ins of a network address that are begun and neither finished nor expired. */
const maxBegun = 100

/** Those that wait: how many there are, and when the first one expires. */
export interface BegunSignIns {
  count: number
  firstEnd: string | null
}

/**
 * Bounds the sign-ins from a network address that are begun and not finished. Those that expired do not count: people cancel
 * some, and one address may be that of a whole company.
 * @param count counts those that expire after a time, by network address
 */
export async function requireFewBegun(
  clock: Clock,
  { address, isLocal }: Browser,
  count: (address: string, now: string) => Promise<BegunSignIns>,
): Promise<void> {
  if (isLocal) return
  const now = clock.now()
  const begun = await count(address, isoTime(now))
  if (begun.count < maxBegun || begun.firstEnd === null) return
  const seconds = Math.ceil((Date.parse(begun.firstEnd) - now) / 1000)
  throw new ApiError(
    'RateLimited',
    `Too many sign-ins were begun and not finished. Retry after ${seconds} s.`,
    { metadata: { retryAfterSeconds: seconds } },
  )
}
