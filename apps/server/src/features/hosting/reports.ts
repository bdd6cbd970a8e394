import type { IssueData } from '../bots/issues/index.js'
import type { CodeIssue, LineSubject, OutputLine, OutputListener } from './output.js'

// Reports of the host program. The code in its process may have written them, so each is checked: one that
// breaks a rule is a `ReportError`, which ends the program.

/** Receives the reports of the host program. */
export interface ReportListener extends OutputListener {
  /** The code is loaded and can be called. */
  onReady(): void
  /** The code cannot be loaded. */
  onFailed(reason: string): void
  /** The code sends a signal to its own process, which ends it. */
  onSignal(signal: string): void
}

/** A report that breaks a rule of its form. */
export class ReportError extends Error {
  override name = 'ReportError'
}

/** Maximum bytes of a report: the data of an issue is the longest part. */
export const maxReportBytes = 256 * 1024
/** Ids of whatever service the code names: printable, and short. */
const idPattern = /^[\x21-\x7e]{1,100}$/
/** Maximum number of names of data, and of names to group by. */
const maxData = 60
const maxGroups = 20
const maxDropped = 1_000_000_000

/** Reads one report. @throws ReportError if it breaks a rule */
export function readReport(line: string, listener: ReportListener): void {
  const report = recordIn(parsed(line), 'report')
  switch (report.host) {
    case 'ready':
      listener.onReady()
      break
    case 'failed':
      listener.onFailed(textIn(report.reason, 'reason'))
      break
    case 'signal':
      listener.onSignal(textIn(report.signal, 'signal'))
      break
    case 'line':
      listener.onLine({
        level: levelIn(report.level),
        message: textIn(report.text, 'text'),
        about: subjectIn(report.about),
      })
      break
    case 'fault':
      readFault(textIn(report.text, 'text'), subjectIn(report.about), listener)
      break
    case 'issue':
      readIssue(recordIn(report.issue, 'issue'), subjectIn(report.about), listener)
      break
    case 'dropped': {
      const { lines } = report
      if (!Number.isInteger(lines) || Number(lines) < 0 || Number(lines) > maxDropped) {
        throw new ReportError(`lines must be a whole number from 0 to ${maxDropped}`)
      }
      listener.onDropped(Number(lines))
      break
    }
    default:
      throw new ReportError('host must be ready, failed, signal, line, fault, issue or dropped')
  }
}

/** An error that the code did not handle. */
function readFault(text: string, about: LineSubject, { onLine, onIssue }: ReportListener): void {
  onLine({ level: 'error', message: text, about })
  onIssue(faultOf(text, about))
}

/** The text that SDKs of bots print before an error that a handler threw. */
const sdkFault = 'An unexpected error occurred in the bot. '

function faultOf(text: string, about: LineSubject): CodeIssue {
  const description = text.startsWith(sdkFault) ? text.slice(sdkFault.length) : text
  const [title = ''] = description.split('\n', 1)
  return {
    origin: 'server',
    code: 'unhandled_error',
    category: 'user_code',
    title,
    description,
    data: { error: { raw: description } },
    groupBy: [],
    about,
  }
}

function readIssue(
  given: Record<string, unknown>,
  about: LineSubject,
  { onLine, onIssue }: ReportListener,
): void {
  const title = textIn(given.title, 'issue.title')
  const description = textIn(given.description, 'issue.description')
  const issue: CodeIssue = {
    origin: 'code',
    code: textIn(given.code, 'issue.code'),
    category: textIn(given.category, 'issue.category'),
    title,
    description,
    data: dataIn(given.data),
    groupBy: listIn(given.groupBy, 'issue.groupBy').map((name) => textIn(name, 'issue.groupBy')),
    about,
  }
  onLine({ level: 'error', message: `${title}: ${description}`, about })
  onIssue(issue)
}

function dataIn(given: unknown): IssueData {
  const entries = Object.entries(recordIn(given, 'issue.data'))
  if (entries.length > maxData)
    throw new ReportError(`issue.data must have at most ${maxData} names`)
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const { raw, pretty } = recordIn(value, 'issue.data')
      return [
        name,
        {
          raw: textIn(raw, 'issue.data'),
          ...(pretty !== undefined && { pretty: textIn(pretty, 'issue.data') }),
        },
      ]
    }),
  )
}

const subjectNames = [
  'botId',
  'conversationId',
  'messageId',
  'eventId',
  'userId',
  'workflowId',
] as const

function subjectIn(about: unknown): LineSubject {
  const given = recordIn(about, 'about')
  const subject: LineSubject = {}
  for (const name of subjectNames) {
    const id = given[name]
    // The request of another service may name an id that is not one of this server, and not even one that can be stored.
    if (typeof id === 'string' && idPattern.test(id)) subject[name] = id
  }
  return subject
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new ReportError('it is not JSON', { cause })
  }
}

function recordIn(value: unknown, name: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value).slice(0, maxData + 1))
  }
  throw new ReportError(`${name} must be an object`)
}

function listIn(value: unknown, name: string): unknown[] {
  if (Array.isArray(value) && value.length <= maxGroups) return value
  throw new ReportError(`${name} must be a list of at most ${maxGroups}`)
}

function textIn(value: unknown, name: string): string {
  if (typeof value === 'string') return value
  throw new ReportError(`${name} must be a string`)
}

function levelIn(level: unknown): OutputLine['level'] {
  if (level === 'debug' || level === 'info' || level === 'warn' || level === 'error') return level
  throw new ReportError('level must be debug, info, warn or error')
}
