import type { Db } from '../platform/db/schema.js'
import type { Period, RangeKey } from '../platform/db/time-ranges.js'

/** Severity of a line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** All severities, the least severe first. */
export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** The log that contains a line: of a bot, of attempts at its deliveries, or of an integration. */
export type LogSourceName = 'bot' | 'delivery' | 'integration'

/** A line of any log of a workspace. */
export interface WorkspaceLogLine {
  id: string
  source: LogSourceName
  level: LogLevel
  message: string
  /** Empty for what is about no bot. */
  botId: string
  /** The integration whose log contains the line. */
  integrationId: string | null
  /** Alias of the installation that an attempt called; null for the bot itself. */
  integrationAlias: string | null
  deliveryId: string | null
  userId: string | null
  workflowId: string | null
  conversationId: string | null
  /** ISO 8601 time. */
  createdAt: string
}

/** The position of a line: lines are sorted by time, and lines of the same time by id. */
export interface LogPosition {
  /** ISO 8601 time. */
  time: string
  id: string
}

/** A part of a log whose lines an index has in the order of time. */
export interface LogRange {
  source: LogSourceName
  /** Equal in all lines of the range, by the columns of the index. */
  key: RangeKey
  /** ISO 8601 time of the newest line in question, or a later one. */
  newest: string
}

/** The lines that are looked for. Undefined members match anything. */
export interface LogSelection {
  /** The bots and integrations of the workspace, or those that the filter names. */
  botIds: readonly string[]
  integrationIds: readonly string[]
  /** Whether the filter names one bot, and one integration. */
  hasBot: boolean
  hasIntegration: boolean
  levels: ReadonlySet<LogLevel>
  userId: string | undefined
  workflowId: string | undefined
  conversationId: string | undefined
}

/** The lines of a range and a period that a count is about. */
export interface LogCount {
  level: LogLevel
  /** Begin of the period. */
  since: string
  count: number
}

/**
 * One of the logs of a workspace, as its slice offers it. A range may contain lines that do not match
 * the selection: the reader checks each line.
 */
export interface LogSource {
  /** Cost of reading one line, relative to other sources. */
  readonly weight: number
  /** The ranges that may contain lines of the selection in the period; empty ones are left out. */
  findRanges(db: Db, selection: LogSelection, period: Period): Promise<LogRange[]>
  /**
   * Some lines of a range, newest first.
   * @param after the position behind which they stand; undefined to begin with the newest
   */
  read(
    db: Db,
    range: LogRange,
    period: Period,
    after: LogPosition | undefined,
    limit: number,
  ): Promise<WorkspaceLogLine[]>
  /**
   * Counts the lines of bots and integrations in several periods, by level. Only for selections
   * without a user, workflow and conversation.
   */
  count(
    db: Db,
    selection: LogSelection,
    ranges: readonly LogRange[],
    periods: readonly Period[],
  ): Promise<LogCount[]>
}

/** Compares positions: negative if the first line is the older one. */
export function comparePositions(one: LogPosition, other: LogPosition): number {
  if (one.time !== other.time) return one.time < other.time ? -1 : 1
  return one.id === other.id ? 0 : one.id < other.id ? -1 : 1
}

/** The position of a line. */
export function positionOf({ createdAt: time, id }: WorkspaceLogLine): LogPosition {
  return { time, id }
}
