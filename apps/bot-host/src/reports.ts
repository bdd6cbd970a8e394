import { AsyncLocalStorage } from 'node:async_hooks'
import type { Socket } from 'node:net'

/** The subject of an output, as far as the request that wrote it names one. */
export interface Subject {
  botId?: string | undefined
  conversationId?: string | undefined
  messageId?: string | undefined
  eventId?: string | undefined
  userId?: string | undefined
  workflowId?: string | undefined
}

export type Level = 'debug' | 'info' | 'warn' | 'error'

/** A problem as the logger of an SDK reports it. */
export interface Issue {
  code: string
  category: string
  title: string
  description: string
  data: Record<string, { raw: string; pretty?: string }>
  groupBy: string[]
}

/** A message to the server, one line of JSON each, on a connection that carries nothing else. */
type Report =
  | { host: 'ready' }
  | { host: 'failed'; reason: string }
  | { host: 'signal'; signal: string }
  | { host: 'line'; level: Level; text: string; about: Subject }
  | { host: 'fault'; text: string; about: Subject }
  | { host: 'issue'; issue: Issue; about: Subject }
  | { host: 'dropped'; lines: number }

/** Maximum number of reports in a minute; the rest is dropped here, where it costs the server nothing. */
export interface ReportLimits {
  linesPerMinute: number
  issuesPerMinute: number
}

/** Maximum length in characters of an error; of a line see below. */
const maxFaultLength = 16_000
/** Maximum length in characters of a line: with the note about the rest, as many as the log of a bot keeps. */
const maxLineLength = 3900
/** Maximum number of bytes that wait while the server does not read. */
const maxWaiting = 2 ** 20
const minuteMs = 60_000
/** Milliseconds after which the server hears how many lines were dropped. */
const droppedMs = 1000

// As they were before the code was loaded, which may replace them.
const { stringify } = JSON
const { now } = performance
const later = setTimeout
const subjects = new AsyncLocalStorage<Subject>()
/** Outside of requests. */
const noSubject: Subject = {}

let channel: Socket | undefined
let limits: ReportLimits = { linesPerMinute: 0, issuesPerMinute: 0 }
const used = { lines: 0, issues: 0 }
let minuteEnd = 0
let dropped = 0
let isCounting = false

/** Sends all reports to this connection from now on. */
export function openReports(to: Socket, given: ReportLimits): void {
  channel = to
  limits = given
  // The server has ended, or ends this program.
  to.on('error', () => {})
}

/** Runs a function, and reports what it writes with this subject. */
export function runWithSubject<Result>(subject: Subject, run: () => Result): Result {
  return subjects.run(subject, run)
}

/** The subject of the current request. */
export function currentSubject(): Subject {
  return subjects.getStore() ?? noSubject
}

/** Reports that the code is loaded. */
export function reportReady(): void {
  send({ host: 'ready' })
}

/** Reports why the code cannot be loaded, and ends the connection. Resolves when the server has the reason. */
export async function reportFailed(reason: string): Promise<void> {
  send({ host: 'failed', reason: cut(reason, maxFaultLength) })
  await new Promise<void>((resolve) => {
    if (channel === undefined) return resolve()
    channel.once('close', resolve)
    channel.end(() => resolve())
  })
}

/** Reports that the code ends its own process by a signal, which otherwise looks like one of others. */
export function reportSignal(signal: string): void {
  send({ host: 'signal', signal })
}

/** Reports a line that the code printed. */
export function reportLine(level: Level, text: string, about = currentSubject()): void {
  if (admits('lines')) send({ host: 'line', level, text: cut(text, maxLineLength), about })
}

/** Reports an error that the code did not handle. @param textOf is called if the error is reported */
export function reportFault(textOf: () => string, about = currentSubject()): void {
  if (admits('issues')) send({ host: 'fault', text: cut(textOf(), maxFaultLength), about })
}

/** Reports a problem. */
export function reportIssue(issue: Issue, about: Subject): void {
  if (admits('issues')) send({ host: 'issue', issue, about })
}

function admits(kind: 'lines' | 'issues'): boolean {
  const time = now.call(performance)
  if (time >= minuteEnd) {
    minuteEnd = time + minuteMs
    used.lines = 0
    used.issues = 0
  }
  const max = kind === 'lines' ? limits.linesPerMinute : limits.issuesPerMinute
  if (used[kind] < max && (channel?.writableLength ?? 0) < maxWaiting) {
    used[kind] += 1
    return true
  }
  dropped += 1
  if (!isCounting) {
    isCounting = true
    later(reportDropped, droppedMs).unref()
  }
  return false
}

function reportDropped(): void {
  isCounting = false
  send({ host: 'dropped', lines: dropped })
  dropped = 0
}

function send(message: Report): void {
  channel?.write(`${stringify(message)}\n`)
}

/** The beginning of a text, with a note about the rest. */
export function cut(text: string, maxLength: number): string {
  const rest = text.length - maxLength
  return rest > 0 ? `${text.slice(0, maxLength)} … (${rest} more characters)` : text
}
