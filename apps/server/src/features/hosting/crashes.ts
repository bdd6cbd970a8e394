import type { Log } from '../../platform/telemetry/log.js'
import type { CodeOwner, Deployment, HostedCode } from '../bots/deployments/index.js'
import { crashIssueOf, type Failures } from './failures.js'
import type { Instance } from './instance.js'
import type { CodeIssue, OutputLine } from './output.js'

export interface CrashesDeps {
  log: Log
  failures: Failures
  /** Whether code is started again without a request. */
  isKept: (owner: CodeOwner) => boolean
  /** Writes a line of the server into the log of the owner. */
  writeLine: (deployment: Deployment, line: OutputLine) => void
  reportIssue: (deployment: Deployment, issue: CodeIssue) => void
}

/** Consequences of a failure of code: the pause before its next start, a line in the log of its owner, and an issue. */
export interface Crashes {
  /** Code that did not start, or that is ended for what it does not do. */
  ofCode(hosted: HostedCode, reason: string): void
  /** A program that was in service and ended, or that the server is about to end. */
  ofInstance(instance: Instance, reason: string): void
}

export function createCrashes(deps: CrashesDeps): Crashes {
  const { log, failures, isKept, writeLine, reportIssue } = deps

  /** @param pauseMs milliseconds before the next start */
  function report(hosted: HostedCode, reason: string, pauseMs: number): void {
    const pause = pauseMs / 1000
    const again = isKept(hosted.owner)
      ? `It is started again in ${pause} s.`
      : `It is started again by the next request${pause > 0 ? `, in ${pause} s at the earliest` : ''}.`
    log.warn({ owner: hosted.owner, deployment: hosted.id, reason }, 'deployed code stopped')
    writeLine(hosted, {
      level: 'error',
      message: `The code stopped: ${reason}. ${again}`,
      about: {},
    })
    reportIssue(hosted, crashIssueOf(reason))
  }

  return {
    ofCode: (hosted, reason) => report(hosted, reason, failures.add(hosted.id, reason)),

    ofInstance(instance, reason) {
      const { hosted, isAlone, open, hasResponded } = instance
      instance.blame(reason)
      // Code that serves others is not broken: what it had open is sent alone from now on, and they need not wait.
      const mayGoOn = open > 0 && (isAlone || hasResponded)
      if (mayGoOn && !isAlone) failures.forget(hosted.id)
      report(hosted, reason, mayGoOn ? 0 : failures.add(hosted.id, reason))
    },
  }
}
