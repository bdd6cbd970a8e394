import { vi } from 'vitest'

/**
 * How long a test waits for what it expects, in milliseconds. It takes as long only where it fails:
 * the second that is usual is not enough for a write to a disk that others are busy with.
 */
const patience = 30_000

/** Set by the first file of the process: those after it share its `vi`. */
const patient = Symbol.for('botstead.patient')

type Limit = number | { timeout?: number; interval?: number }

function patiently(limit: Limit = {}): { timeout: number; interval: number } {
  const { timeout = 0, interval = 20 } = typeof limit === 'number' ? { timeout: limit } : limit
  return { timeout: Math.max(timeout, patience), interval }
}

if (!(patient in vi)) {
  const { waitFor, waitUntil } = vi
  Object.assign(vi, {
    [patient]: true,
    waitFor: ((callback, limit) => waitFor(callback, patiently(limit))) as typeof waitFor,
    waitUntil: ((callback, limit) => waitUntil(callback, patiently(limit))) as typeof waitUntil,
  })
}
