import type { Db } from '../platform/db/schema.js'
import type { Period } from '../platform/db/time-ranges.js'

/** Severity of a line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** All severities, the least severe first. */
export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** The log that contains a line: of a bot, of attempts at its deliveries, or of an integration. */
export type LogSourceName = 'bot' | 'delivery' | 'integration'

/** All logs. */
export const logSources: readonly LogSourceName[] = ['bot', 'delivery', 'integration']

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

/** The lines that are looked for. Undefined members match anything. */
export interface LogSelection {
  workspaceId: string
  /** The bots and integrations of the workspace, or those that the filter names. */
  botIds: readonly string[]
  integrationIds: readonly string[]
  /** The one bot and the one integration that the filter names. */
  botId: string | undefined
  integrationId: string | undefined
  sources: ReadonlySet<LogSourceName>
  levels: ReadonlySet<LogLevel>
  userId: string | undefined
  workflowId: string | undefined
  conversationId: string | undefined
}

/** The lines of a period that a count is about. */
export interface LogCount {
  level: LogLevel
  /** Begin of the period. */
  since: string
  count: number
}

/** Reads some of the logs of a workspace, as their slice offers it. */
export interface LogReader {
  /** Cost of reading one line, relative to other readers. */
  readonly weight: number
  /**
   * Some lines of a period, newest first. There may be lines among them that do not match the selection: the caller
   * checks each line.
   * @param after the position behind which they stand; undefined to begin with the newest
   */
  read(
    db: Db,
    selection: LogSelection,
    period: Period,
    after: LogPosition | undefined,
    limit: number,
  ): Promise<WorkspaceLogLine[]>
  /**
   * Counts the lines of bots and integrations in several periods, by level. Only for selections
   * without an integration, user, workflow and conversation.
   */
  count(db: Db, selection: LogSelection, periods: readonly Period[]): Promise<LogCount[]>
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
