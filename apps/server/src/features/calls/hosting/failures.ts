import type { Clock } from '../../../platform/clock.js'
import { createLruCache } from '../../../platform/lru-cache.js'
import { OutgoingError } from '../../../platform/outgoing/outgoing.js'
import type { CodeIssue } from './output.js'

/** Deployments whose code stopped: it is started again after growing pauses. */
export interface Failures {
  /** Counts a failure. @returns milliseconds until the code may be started again */
  add(deploymentId: string, reason: string): number
  /** Why code may not be started now; undefined if it may. */
  pauseOf(deploymentId: string): OutgoingError | undefined
  forget(deploymentId: string): void
}

interface Failure {
  count: number
  /** Milliseconds of the clock before which the code is not started again. */
  until: number
  reason: string
}

const firstPause = 1000
const longestPause = 60_000
/** Deployments that are remembered: those that stopped last. */
const mostRemembered = 1000

export function createFailures(clock: Clock): Failures {
  const failures = createLruCache<string, Failure>(mostRemembered)
  return {
    add(id, reason) {
      const count = (failures.get(id)?.count ?? 0) + 1
      const pause = Math.min(firstPause * 2 ** (count - 1), longestPause)
      failures.set(id, { count, until: clock.now() + pause, reason })
      return pause
    },
    pauseOf(id) {
      const failed = failures.get(id)
      if (failed === undefined || clock.now() >= failed.until) return undefined
      const seconds = Math.ceil((failed.until - clock.now()) / 1000)
      const times = failed.count === 1 ? 'once' : `${failed.count} times in a row`
      return new OutgoingError(
        'connection',
        `The code stopped ${times}: ${failed.reason}. It is started again in ${seconds} s.`,
      )
    },
    forget: (id) => void failures.delete(id),
  }
}

/** A crash as an issue of the code. */
export function crashOf(reason: string): CodeIssue {
  return {
    origin: 'server',
    ...kindOfCrash(reason),
    description: reason,
    data: { reason: { raw: reason } },
    groupBy: [],
    about: {},
  }
}

/** What ended code, by the words of this server and of Node. */
function kindOfCrash(reason: string): Pick<CodeIssue, 'code' | 'category' | 'title'> {
  if (/used too much memory|MiB of memory/.test(reason)) {
    return { code: 'memory_exceeded', category: 'limits', title: 'The code used too much memory' }
  }
  if (/endless loop|in a row took too long/.test(reason)) {
    return { code: 'code_unresponsive', category: 'limits', title: 'The code did not respond' }
  }
  const [how = ''] = reason.split('\n')
  return { code: 'code_stopped', category: 'user_code', title: `The code stopped: ${how}` }
}
