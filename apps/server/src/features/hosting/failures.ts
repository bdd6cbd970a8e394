import type { Clock } from '../../platform/clock.js'
import { createLruCache } from '../../platform/lru-cache.js'
import { OutgoingError } from '../../platform/outgoing/outgoing.js'
import type { CodeIssue } from './output.js'

/** Deployments whose code stopped: the pause before their next start doubles with each failure in a row. */
export interface Failures {
  /** Counts a failure. @returns milliseconds until the code may be started again */
  add(deploymentId: string, reason: string): number
  /** @throws OutgoingError while the code may not be started again */
  requireNoPause(deploymentId: string): void
  forget(deploymentId: string): void
}

interface Failure {
  count: number
  /** Milliseconds of the clock from which, and before which, the code is not started again. */
  since: number
  until: number
  reason: string
}

/** Milliseconds before the first start after a failure, and at most. */
const firstPauseMs = 1000
const maxPauseMs = 60_000
/** Maximum number of deployments that are remembered: those that stopped last. */
const maxRemembered = 1000

export function createFailures(clock: Clock): Failures {
  const failures = createLruCache<string, Failure>(maxRemembered)
  return {
    add(id, reason) {
      const count = (failures.get(id)?.count ?? 0) + 1
      const pause = Math.min(firstPauseMs * 2 ** (count - 1), maxPauseMs)
      const since = clock.now()
      failures.set(id, { count, since, until: since + pause, reason })
      return pause
    },
    requireNoPause(id) {
      const failed = failures.get(id)
      if (failed === undefined) return
      const now = clock.now()
      // A clock that was set back would have the code wait for as long as it was wrong.
      if (now < failed.since || now >= failed.until) return
      const seconds = Math.ceil((failed.until - now) / 1000)
      const times = failed.count === 1 ? 'once' : `${failed.count} times in a row`
      throw new OutgoingError(
        'connection',
        `The code stopped ${times}: ${failed.reason}. It is started again in ${seconds} s.`,
      )
    },
    forget: (id) => void failures.delete(id),
  }
}

/** The issue of code that stopped. */
export function crashIssueOf(reason: string): CodeIssue {
  return {
    origin: 'server',
    ...kindOfCrash(reason),
    description: reason,
    data: { reason: { raw: reason } },
    groupBy: [],
    about: {},
  }
}

/** Classifies a crash by its reason, a text of this server or of Node. */
function kindOfCrash(reason: string): Pick<CodeIssue, 'code' | 'category' | 'title'> {
  if (/used too much memory|MiB of memory/.test(reason)) {
    return { code: 'memory_exceeded', category: 'limits', title: 'The code used too much memory' }
  }
  if (/ran more than \d+ processes and threads/.test(reason)) {
    return {
      code: 'processes_exceeded',
      category: 'limits',
      title: 'The code ran too many processes and threads',
    }
  }
  if (/endless loop|in a row took too long/.test(reason)) {
    return { code: 'code_unresponsive', category: 'limits', title: 'The code did not respond' }
  }
  const [how = ''] = reason.split('\n')
  return { code: 'code_stopped', category: 'user_code', title: `The code stopped: ${how}` }
}
