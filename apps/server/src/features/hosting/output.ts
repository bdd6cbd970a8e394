import type { Clock, Timers } from '../../platform/clock.js'
import type { Log } from '../../platform/telemetry/log.js'
import type { IssueReport } from '../bots/issues/index.js'

/** The known objects that a line refers to. */
export interface LineSubject {
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
  /** The source of the line: the code itself, or the server. */
  origin: 'code' | 'server'
  about: LineSubject
}

/** Receives the reports and the output of a program. */
export interface OutputListener {
  onLine(line: OutputLine): void
  onIssue(issue: CodeIssue): void
  /** The program itself dropped lines beyond its limit. */
  onDropped(lines: number): void
}

/** A line that waits to be stored. */
interface TimedLine extends OutputLine {
  /** Time at which it was read, in milliseconds of the clock. */
  at: number
}

/** Collects the lines that the programs of one owner print, and stores them in its log. */
export interface LineSink {
  /** Adds a line that the program printed. */
  add(line: OutputLine): void
  /** Adds a line of the server about the program, which no limit drops. */
  addOwn(line: OutputLine): void
  /** Counts lines that the program dropped itself. */
  addDropped(lines: number): void
  /** Stores the lines that wait. */
  flush(): Promise<void>
}

/** Milliseconds for which lines are collected. */
const collectedMs = 100
const minuteMs = 60_000

/** Lines beyond `perMinute` in a minute are dropped, and one line says how many. */
export function createLineSink(deps: {
  clock: Clock
  timers: Timers
  log: Pick<Log, 'warn'>
  perMinute: number
  /** Stores lines together. Rejects if they cannot be stored. */
  store: (lines: readonly TimedLine[]) => Promise<void>
  /** Called with the number of lines that were dropped. */
  onDropped: (lines: number) => void
}): LineSink {
  const { clock, timers, log, perMinute, store, onDropped } = deps
  let waiting: TimedLine[] = []
  let cancelFlush: (() => void) | undefined
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
    cancelFlush ??= timers.after(milliseconds, () => void flush())
  }

  function flush(): Promise<void> {
    cancelFlush?.()
    cancelFlush = undefined
    reportDropped()
    stored = stored.then(storeWaiting)
    return stored
  }

  function drop(lines: number): void {
    dropped += lines
    // Dropped lines are counted for a while, so that the lines that report them are few.
    flushSoon(minuteMs / 6)
  }

  return {
    addDropped: drop,

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
      } else drop(1)
    },
    flush,
  }
}
