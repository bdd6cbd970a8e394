import { ApiError } from '@botstead/contract'
import type { Browser } from '../../../domain/browser.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import { hashToken } from '../../../platform/ids.js'
import { type AttemptsRow, lockAttempts, patchAttempts } from './store.js'

/** The pauses of what is counted under one key. */
interface Pace {
  /** Failures without a pause; each further one doubles it. */
  free: number
  /** Milliseconds of the first pause; a second unless given. */
  firstPause?: number
  /** Milliseconds. */
  maxPause: number
}

/** Something that attempts are counted by. */
export interface Counted extends Pace {
  key: string
  /** The reason of a pause, as a sentence. */
  refusal?: string
}

const minute = 60_000
/** By account, all browsers that did not sign in to it before together. */
const byAccount: Pace = { free: 10, maxPause: 5 * minute }
/** By account and browser that did, so that an attack from elsewhere does not delay its owner. */
const byDevice: Pace = { free: 10, maxPause: 5 * minute }
/** By network address, for one that tries a few passwords at many accounts. */
const byAddress: Pace = { free: 30, maxPause: 15 * minute }

/** Milliseconds after which failures are forgotten. */
export const attemptLifetime = 24 * 60 * minute

/**
 * What the attempts of a browser at an account are counted by.
 * @param subject proof that is tried, such as `password`, and whose
 * @param deviceHash of a browser that signed in to the account before
 */
export function countedBy(
  subject: string,
  deviceHash: string | undefined,
  { address, isLocal }: Pick<Browser, 'address' | 'isLocal'>,
): Counted[] {
  // The subject may contain an address that was typed, of any length.
  const account = hashToken(subject)
  const own =
    deviceHash === undefined
      ? { key: `account:${account}`, ...byAccount }
      : { key: `device:${account}:${deviceHash}`, ...byDevice }
  return isLocal ? [own] : [own, { key: `address:${address}`, ...byAddress }]
}

/**
 * Counts an attempt before it is made, so that many at once are not free, under every key.
 * @throws ApiError `RateLimited` during a pause, and then counts nothing
 */
export async function countAttempt(
  tx: Tx,
  clock: Clock,
  counted: readonly Counted[],
): Promise<void> {
  const now = clock.now()
  // In the order in which all others lock them.
  for (const { key, free, firstPause = 1000, maxPause, refusal } of inOrder(counted)) {
    const row = await lockAttempts(tx, key, isoTime(now))
    const until = Date.parse(row.blocked_until ?? '') || 0
    if (until > now) throw tooSoon(until - now, refusal)
    const failures = (isForgotten(row, now) ? 0 : row.failures) + 1
    const pause =
      failures < free ? 0 : Math.min(maxPause, firstPause * 2 ** Math.min(failures - free, 30))
    await patchAttempts(tx, {
      key,
      failures,
      blocked_until: pause === 0 ? null : isoTime(now + pause),
      last_at: isoTime(now),
    })
  }
}

/**
 * Takes back what was counted for an attempt that succeeded. The account begins anew; the network address gets this attempt
 * back only, because others may be tried from it with one account that is known.
 */
export async function forgiveAttempt(
  tx: Tx,
  clock: Clock,
  counted: readonly Counted[],
): Promise<void> {
  for (const { key } of inOrder(counted)) {
    const row = await lockAttempts(tx, key, isoTime(clock.now()))
    const failures = key.startsWith('address:') ? Math.max(0, row.failures - 1) : 0
    await patchAttempts(tx, { ...row, failures, blocked_until: null })
  }
}

function inOrder(counted: readonly Counted[]): Counted[] {
  return [...counted].sort((a, b) => (a.key < b.key ? -1 : 1))
}

function isForgotten({ last_at }: AttemptsRow, now: number): boolean {
  return Date.parse(last_at) <= now - attemptLifetime
}

function tooSoon(milliseconds: number, refusal = 'Too many failed attempts.'): ApiError {
  const seconds = Math.ceil(milliseconds / 1000)
  return new ApiError('RateLimited', `${refusal} Retry after ${seconds} s.`, {
    metadata: { retryAfterSeconds: seconds },
  })
}
