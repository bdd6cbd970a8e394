import type { Clock } from '../../../platform/clock.js'
import { OutgoingError } from '../../../platform/outgoing/outgoing.js'
import type { CodeIssue } from './output.js'

/** Code that stopped, by a key of its owner: it is started again after growing pauses. */
export interface Failures {
  /** Counts a failure. @returns milliseconds until the code may be started again */
  add(key: string, reason: string): number
  /** Throws an OutgoingError while code may not be started again. */
  check(key: string): void
  forget(key: string): void
}

interface Failure {
  count: number
  /** Milliseconds of the clock before which the code is not started again. */
  until: number
  reason: string
}

const firstPause = 1000
const longestPause = 60_000

export function createFailures(clock: Clock): Failures {
  const failures = new Map<string, Failure>()
  return {
    add(key, reason) {
      const count = (failures.get(key)?.count ?? 0) + 1
      const pause = Math.min(firstPause * 2 ** (count - 1), longestPause)
      failures.set(key, { count, until: clock.now() + pause, reason })
      return pause
    },
    check(key) {
      const failed = failures.get(key)
      if (failed === undefined || clock.now() >= failed.until) return
      const seconds = Math.ceil((failed.until - clock.now()) / 1000)
      const times = failed.count === 1 ? 'once' : `${failed.count} times in a row`
      throw new OutgoingError(
        'connection',
        `The code stopped ${times}: ${failed.reason}. It is started again in ${seconds} s.`,
      )
    },
    forget: (key) => void failures.delete(key),
  }
}

/** A crash as an issue of the code. */
export function crashOf(reason: string): CodeIssue {
  return {
    code: 'code_stopped',
    category: 'user_code',
    title: 'The code stopped',
    description: reason,
    data: { reason: { raw: reason } },
    groupBy: [],
    about: {},
  }
}
