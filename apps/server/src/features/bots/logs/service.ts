import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import type { BotActor, WorkspaceActor } from '../../../domain/actor.js'
import type { Receiver } from '../../../domain/deliveries.js'
import type { LogLevel } from '../../../domain/log-lines.js'
import type { Ports } from '../../../domain/ports.js'
import { notFound } from '../../../domain/refusals.js'
import { bodyTimeOf, timeOf } from '../../../domain/times.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { storableText } from '../../../platform/db/columns.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page, PageRequest } from '../../../platform/db/paginate.js'
import { purge } from '../../../platform/db/purge.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import { createRateLimiter } from '../../../platform/security/rate-limit.js'
import type { BotsService } from '../bots/index.js'
import {
  conditionsOf,
  deleteSomeLines,
  insertLines,
  type LineFilter,
  type LogLineRow,
  pageLines,
} from '../log-lines/index.js'

type LogsQuery = Query<typeof contract.botLogs.get>
type NewLines = Body<typeof contract.botLogs.write>['logs']

/** Something that happened in a bot. */
export interface LogLine extends LineAbout {
  botId: string
  level: LogLevel
  message: string
}

/** The known objects that a line refers to. */
interface LineAbout {
  userId?: string | undefined
  workflowId?: string | undefined
  conversationId?: string | undefined
  messageId?: string | undefined
  eventId?: string | undefined
}

/** A line that code printed. */
export interface PrintedLine {
  level: LogLevel
  message: string
  about: LineAbout
  /** Milliseconds of the clock at which it was printed. */
  at: number
}

export interface BotLogsDeps {
  ports: Pick<Ports, 'open'>
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  pager: Pager
  bots: Pick<BotsService, 'requireIn' | 'holdAnywhere' | 'workspaceIn' | 'keepWorkspaceOf'>
  /** Milliseconds for which lines are kept. */
  retentionMs: number
}

/** A line as it is shown; attempts at deliveries name no message and no event. */
export type ShownLogRow = Omit<
  LogLineRow,
  'workspace_id' | 'integration_id' | 'message_id' | 'event_id'
> &
  Partial<Pick<LogLineRow, 'message_id' | 'event_id'>>

/**
 * Pages through attempts at deliveries as lines of the log, so that none has to be written twice.
 * @param conditions on the columns of a line
 */
export type PageAttempts = (
  db: Db,
  botId: string,
  conditions: (db: Db) => ReturnType<typeof conditionsOf>,
  page: PageRequest<'created_at'>,
) => Promise<Page<ShownLogRow>>

const linesPerPage = 100
const maxMessageLength = 4000
const sweptAtOnce = 500
const callsPerMinute = 600
const callsAtOnce = 100
/** Milliseconds by which the clock of a bot may be ahead. */
const maxAhead = 5 * 60 * 1000

export type BotLogsService = ReturnType<typeof createBotLogsService>

/** The log of each bot: lines of the server, and lines of the bot itself. */
export function createBotLogsService(deps: BotLogsDeps) {
  const { db, run, clock, ids, ports } = deps
  const attempts = ports.open<PageAttempts>('bot logs: attempts at deliveries')
  const limiter = createRateLimiter({ perMinute: callsPerMinute, burst: callsAtOnce, clock })

  function toRow(
    { botId, level, message, ...about }: LogLine,
    workspaceId: string,
    at: number,
  ): LogLineRow {
    return {
      id: ids.next('report'),
      workspace_id: workspaceId,
      bot_id: botId,
      integration_id: null,
      level,
      message: storableText(message.slice(0, maxMessageLength)),
      user_id: about.userId ?? null,
      workflow_id: about.workflowId ?? null,
      conversation_id: about.conversationId ?? null,
      message_id: about.messageId ?? null,
      event_id: about.eventId ?? null,
      created_at: isoTime(at),
    }
  }

  function timeOfLine(given: string | undefined, position: number, now: number): number {
    if (given === undefined) return now
    const field = `logs[${position}].timestamp`
    const time = bodyTimeOf(field, given)
    if (time <= now + maxAhead) return time
    throw new ApiError('InvalidPayload', `body.${field} must not lie in the future.`)
  }

  return {
    attempts,

    /** Writes a line in the transaction of the change that it reports. */
    async writeLine(tx: Tx, line: LogLine): Promise<void> {
      const workspaceId = await deps.bots.workspaceIn(tx, line.botId)
      await insertLines(tx, [toRow(line, workspaceId ?? '', clock.now())])
    },

    /** Writes lines that the code of the bot printed, unless the bot was deleted, which its program may outlive. */
    async writeLines(tx: Tx, botId: string, lines: readonly PrintedLine[]): Promise<void> {
      if (!(await deps.bots.holdAnywhere(tx, botId))) return
      const workspaceId = (await deps.bots.workspaceIn(tx, botId)) ?? ''
      const rows = lines.map(({ level, message, about, at }) =>
        toRow({ level, message, ...about, botId }, workspaceId, at),
      )
      await insertLines(tx, rows)
    },

    /** Writes lines that the bot sends. */
    async write({ botId }: BotActor, lines: NewLines): Promise<void> {
      const { allowed, retryAfterSeconds } = limiter.take(botId)
      if (!allowed) {
        throw new ApiError(
          'RateLimited',
          `A bot may write to its log ${callsPerMinute} times a minute; again in ${retryAfterSeconds} s.`,
        )
      }
      const now = clock.now()
      await run(async (tx) => {
        // The bot may have been moved or deleted while the request came.
        const workspaceId = await deps.bots.keepWorkspaceOf(tx, botId)
        if (workspaceId === undefined) throw notFound('bot', botId)
        const rows = lines.map(({ timestamp, ...line }, position) =>
          toRow({ botId, ...line }, workspaceId, timeOfLine(timestamp, position, now)),
        )
        await insertLines(tx, rows)
      })
    },

    async page(
      actor: WorkspaceActor,
      botId: string,
      { nextToken, ...query }: LogsQuery,
    ): Promise<Page<ShownLogRow>> {
      await deps.bots.requireIn(actor, botId)
      const { timeStart, timeEnd, ...equal } = query
      const filter: LineFilter = {
        from: timeOf('timeStart', timeStart, 'beginning') ?? '',
        until: timeOf('timeEnd', timeEnd, 'end'),
        level: equal.level,
        userId: equal.userId,
        workflowId: equal.workflowId,
        conversationId: equal.conversationId,
        messageContains: equal.messageContains,
      }
      const page = deps.pager.page({
        operation: 'getBotLogs',
        scope: botId,
        filter: query,
        sort: 'created_at',
        direction: 'desc',
        nextToken,
        pageSize: linesPerPage,
      })
      const conditions = (executor: Db) => conditionsOf(executor, filter)
      const written = await pageLines(db, { workspaceId: actor.workspaceId, botId }, filter, page)
      return mergePages([written, await attempts.call(db, botId, conditions, page)], page)
    },

    /** Deletes some of the expired lines and returns how many. */
    async sweep(tx: Tx): Promise<number> {
      const before = isoTime(clock.now() - deps.retentionMs)
      return await deleteSomeLines(tx, { of: 'bot', before }, sweptAtOnce)
    },

    /** Deletes the rows of a deleted bot. */
    async purge(botId: string): Promise<void> {
      await purge(run, (tx, limit) => deleteSomeLines(tx, { botId }, limit))
    },
  }
}

/** Merges the pages of two lists that are sorted in the same way, newest first. */
function mergePages(
  pages: readonly Page<ShownLogRow>[],
  { size, tokenAfter }: PageRequest,
): Page<ShownLogRow> {
  const all = pages
    .flatMap(({ rows }) => rows)
    .sort((a, b) => compare(b.created_at, a.created_at) || compare(b.id, a.id))
  const rows = all.slice(0, size)
  const last = rows.at(-1)
  const more = all.length > size || pages.some(({ nextToken }) => nextToken !== undefined)
  if (!more || !last) return { rows, nextToken: undefined }
  return { rows, nextToken: tokenAfter({ value: last.created_at, id: last.id }) }
}

/** The order in which the databases sort: by character code. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** A line about a receiver as a whole. */
export function lineOfReceiver(
  { botId, integration }: Receiver,
  level: LogLine['level'],
  said: string,
): LogLine {
  const name = integration === '' ? 'the bot' : integration
  return { botId, level, message: `Deliveries to ${name}: ${said}` }
}
