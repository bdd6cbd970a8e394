import type { Clock } from '../../../platform/clock.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { IssueReport } from '../../bots/issues/index.js'

/** What a line is about, as far as it is known. */
interface LineSubject {
  botId?: string
  conversationId?: string
  messageId?: string
  eventId?: string
  userId?: string
  workflowId?: string
}

/** A line that a program printed. */
export interface OutputLine {
  level: 'debug' | 'info' | 'warn' | 'error'
  message: string
  about: LineSubject
}

/** A problem that the code reported, or that the server noticed. */
export interface CodeIssue extends IssueReport {
  /** Who found it. */
  origin: 'code' | 'server'
  about: LineSubject
}

/** Receives what a program reports and prints. */
export interface OutputListener {
  /** The code is loaded and can be called. */
  onReady(): void
  /** The code cannot be loaded. */
  onFailed(reason: string): void
  onLine(line: OutputLine): void
  onIssue(issue: CodeIssue): void
}

/** Most characters of a report of the host program, which cuts the texts in it to less. */
const longestReport = 1_000_000
/** Most characters of any other line: a longer one is split, because it may never end. */
const longestLine = 16_000

/**
 * Reads the output of a program: reports of the host program are lines of JSON, everything else is plain text.
 * @returns a function that takes the next piece of text
 */
export function createReportReader(listener: OutputListener): (text: string) => void {
  let pending = ''
  return (text) => {
    pending += text
    const longest = pending.startsWith('{') ? longestReport : longestLine
    if (pending.length > longest && !pending.includes('\n')) pending += '\n'
    const lines = pending.split('\n')
    pending = lines.pop() ?? ''
    for (const line of lines) if (line !== '') readReport(line, listener)
  }
}

function readReport(line: string, listener: OutputListener): void {
  const report = parseObject(line)
  switch (report?.host) {
    case 'ready':
      listener.onReady()
      break
    case 'failed':
      listener.onFailed(String(report.reason))
      break
    case 'fault':
      readFault(String(report.text), subjectIn(report), listener)
      break
    case 'text':
      readText(String(report.text), report.stream === 'error', subjectIn(report), listener)
      break
    default:
      readText(line, false, {}, listener)
  }
}

/** An error that the code did not handle. */
function readFault(text: string, about: LineSubject, { onLine, onIssue }: OutputListener): void {
  onLine({ level: 'error', message: text, about })
  onIssue(faultOf(text, about))
}

/** What SDKs of bots print before an error that a handler threw. */
const sdkFault = 'An unexpected error occurred in the bot. '

function faultOf(text: string, about: LineSubject): CodeIssue {
  const description = text.startsWith(sdkFault) ? text.slice(sdkFault.length) : text
  const [title = ''] = description.split('\n')
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

/**
 * Reads a text as a line of the log. With `BP_LOG_FORMAT=json` the SDK prints lines and issues as JSON; the
 * ids of what they are about are in `options`, or beside the message.
 */
function readText(
  text: string,
  isError: boolean,
  about: LineSubject,
  { onLine, onIssue }: OutputListener,
): void {
  const parsed = parseObject(text)
  if (parsed?.type === 'issue' && typeof parsed.code === 'string') {
    const title = textOr(parsed.title, parsed.code)
    const description = textOr(parsed.description, '')
    const subject = { ...about, ...subjectIn({ about: parsed }) }
    onLine({ level: 'error', message: `${title}: ${description}`, about: subject })
    onIssue({
      origin: 'code',
      code: parsed.code,
      category: textOr(parsed.category, 'user_code'),
      title,
      description,
      data: dataIn(parsed.data),
      groupBy: Array.isArray(parsed.groupBy) ? parsed.groupBy.map(String) : [],
      about: subject,
    })
  } else if (typeof parsed?.msg === 'string') {
    const options = typeof parsed.options === 'object' ? parsed.options : parsed
    const subject = { ...about, ...subjectIn({ about: options }) }
    onLine({ level: levelOf(parsed.level, isError), message: parsed.msg, about: subject })
    if (parsed.msg.startsWith(sdkFault)) onIssue(faultOf(parsed.msg, subject))
  } else onLine({ level: isError ? 'error' : 'info', message: text, about })
}

function parseObject(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const subjectNames = [
  'botId',
  'conversationId',
  'messageId',
  'eventId',
  'userId',
  'workflowId',
] as const

/** Most characters of an id: those of this server are shorter. */
const longestId = 100

function subjectIn({ about }: { about?: unknown }): LineSubject {
  const given = Object(about)
  const subject: LineSubject = {}
  for (const name of subjectNames) {
    const id: unknown = given[name]
    if (typeof id === 'string' && id !== '' && id.length <= longestId) subject[name] = id
  }
  return subject
}

function dataIn(data: unknown): CodeIssue['data'] {
  const entries = Object.entries(Object(data)).slice(0, 50)
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const { raw, pretty } = Object(value)
      const text = typeof value === 'string' ? value : textOr(raw, JSON.stringify(value) ?? '')
      return [name, { raw: text, ...(typeof pretty === 'string' && { pretty }) }]
    }),
  )
}

function levelOf(level: unknown, isError: boolean): OutputLine['level'] {
  if (level === 'debug' || level === 'info' || level === 'warn' || level === 'error') return level
  return isError ? 'error' : 'info'
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}

/** A line that waits to be stored. */
interface TimedLine extends OutputLine {
  /** When it was read, in milliseconds of the clock. */
  at: number
}

/** Collects the lines that the programs of one owner print, and stores them in its log. */
export interface LineSink {
  /** Adds a line that the program printed. */
  add(line: OutputLine): void
  /** Adds a line of the server about the program, which no limit drops. */
  addOwn(line: OutputLine): void
  /** Stores the lines that wait. */
  flush(): Promise<void>
}

/** Milliseconds for which lines are collected. */
const collectedMs = 100
const minuteMs = 60_000

/** Lines beyond `perMinute` in a minute are dropped, and one line says how many. */
export function createLineSink(deps: {
  clock: Clock
  log: Pick<Log, 'warn'>
  perMinute: number
  /** Stores lines together. Rejects if they cannot be stored. */
  store: (lines: readonly TimedLine[]) => Promise<void>
  /** Called with the number of lines that were dropped. */
  onDropped: (lines: number) => void
}): LineSink {
  const { clock, log, perMinute, store, onDropped } = deps
  let waiting: TimedLine[] = []
  let timer: NodeJS.Timeout | undefined
  let minuteEnd = 0
  let left = 0
  let dropped = 0
  let stored: Promise<void> = Promise.resolve()

  function beginMinute(now: number): void {
    minuteEnd = now + minuteMs
    left = perMinute
    reportDropped()
  }

  function reportDropped(): void {
    if (dropped === 0) return
    waiting.push({
      level: 'warn',
      message: `${dropped} further lines were dropped: a program may write ${perMinute} lines a minute into its log (BOTSTEAD_HOSTING_LOG_LINES).`,
      about: {},
      at: clock.now(),
    })
    onDropped(dropped)
    dropped = 0
  }

  async function storeWaiting(): Promise<void> {
    const lines = waiting
    waiting = []
    if (lines.length === 0) return
    await store(lines).catch((err: unknown) =>
      log.warn({ err, lines: lines.length }, 'lines of deployed code could not be stored'),
    )
  }

  function flushSoon(milliseconds: number): void {
    timer ??= setTimeout(() => void flush(), milliseconds).unref()
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    reportDropped()
    stored = stored.then(storeWaiting)
    return stored
  }

  return {
    addOwn(line) {
      waiting.push({ ...line, at: clock.now() })
      flushSoon(collectedMs)
    },

    add(line) {
      const now = clock.now()
      if (now >= minuteEnd) beginMinute(now)
      if (left > 0) {
        left -= 1
        waiting.push({ ...line, at: now })
        flushSoon(collectedMs)
      } else {
        dropped += 1
        // Dropped lines are counted for a while, so that the lines that report them are few.
        flushSoon(minuteMs / 6)
      }
    },
    flush,
  }
}
