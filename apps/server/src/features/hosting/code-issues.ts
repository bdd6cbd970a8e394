import { OutgoingError, type OutgoingRequest } from '../../platform/outgoing/outgoing.js'
import type { CodeOwner } from '../bots/deployments/index.js'
import type { IssueData, IssuesService } from '../bots/issues/index.js'
import { CodeEndedError } from './instance.js'
import type { CodeIssue } from './output.js'

/**
 * Reports problems of code as issues of bots. A problem of the code of an integration is in the log of that
 * integration only, where its developers read it, unless the code itself reports it for a bot.
 */
export function createIssueReports(issues: Pick<IssuesService, 'report' | 'reportByIntegration'>) {
  return async (owner: CodeOwner, { origin, about, ...issue }: CodeIssue): Promise<void> => {
    const { botId, ...subjects } = about
    const data: IssueData = {
      ...Object.fromEntries(Object.entries(subjects).map(([name, raw]) => [name, { raw }])),
      ...issue.data,
    }
    const report = { ...issue, data }
    if (owner.type === 'bot') issues.report(owner.id, report)
    else if (origin === 'code' && botId !== undefined) {
      await issues.reportByIntegration({ integrationId: owner.id, botId }, report)
    }
  }
}

/** Whether a request took too long, also if the program was ended for that. */
export function wasLate(error: unknown): boolean {
  return (
    error instanceof OutgoingError &&
    (error.failure === 'timeout' || (error instanceof CodeEndedError && wasLate(error.cause)))
  )
}

/** The issue of a request that took too long. */
export function timeoutIssueOf({ timeoutMs, headers }: OutgoingRequest): CodeIssue {
  const operation = headers['x-bp-operation'] ?? 'a request'
  const seconds = `${timeoutMs / 1000} s`
  return {
    origin: 'server',
    code: 'request_timed_out',
    category: 'limits',
    title: `The code did not finish ${operation} in time`,
    description: `The code may take ${seconds} for a request (maxExecutionTime), and took longer for ${operation}.`,
    data: {
      operation: { raw: operation },
      type: { raw: headers['x-bp-type'] ?? '' },
      limit: { raw: String(timeoutMs), pretty: seconds },
    },
    groupBy: ['operation', 'type'],
    about: {},
  }
}

/** The issue of `lines` that were dropped because the code wrote more than `perMinute` in a minute. */
export function droppedLinesIssueOf(lines: number, perMinute: number): CodeIssue {
  return {
    origin: 'server',
    code: 'output_dropped',
    category: 'limits',
    title: 'The code writes too much into its log',
    description: `A program may write ${perMinute} lines a minute into its log (BOTSTEAD_HOSTING_LOG_LINES); the others are dropped.`,
    data: { lines: { raw: String(lines), pretty: `${lines} lines were dropped` } },
    groupBy: [],
    about: {},
  }
}
