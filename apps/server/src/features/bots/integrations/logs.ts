import type { contract, Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import type { LogLevel } from '../../../domain/log-lines.js'
import { timeOf } from '../../../domain/times.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { storableText } from '../../../platform/db/columns.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import type { Log } from '../../../platform/telemetry/log.js'
import { deleteSomeLines, insertLines, type LogLineRow, pageLines } from '../log-lines/index.js'
import { findWorkspaceOf } from './store.js'

type LogsQuery = Query<typeof contract.integrations.getLogs>

/** An event between an integration and this server. */
interface LogLine {
  integrationId: string
  botId: string
  level: Exclude<LogLevel, 'debug'>
  message: string
}

/** A line that code printed, with what it is about. */
interface PrintedLine {
  level: LogLevel
  message: string
  about: {
    botId?: string
    userId?: string
    conversationId?: string
    messageId?: string
    eventId?: string
  }
  /** Milliseconds of the clock at which it was printed. */
  at: number
}

/** The log of each integration, for its developers. */
export interface IntegrationLogs {
  /** Writes a line in the background. Never fails, because the work that it reports is done. */
  writeLine(line: LogLine): void
  /** Writes lines that the code of the integration printed. */
  writeLines(tx: Tx, integrationId: string, lines: readonly PrintedLine[]): Promise<void>
  page(actor: WorkspaceActor, id: string, query: LogsQuery): Promise<Page<LogLineRow>>
  /** Deletes some of the expired lines; returns how many. */
  sweep(tx: Tx): Promise<number>
}

/** Milliseconds for which lines are kept. */
const lifetime = 7 * 24 * 60 * 60 * 1000
const maxMessageLength = 2000
const linesPerPage = 100
const sweptAtOnce = 500

/** Makes the log of integrations, which keeps lines for 7 days. */
export function createIntegrationLogs(deps: {
  db: Db
  run: Run
  clock: Clock
  ids: Ids
  pager: Pager
  log: Log
}): IntegrationLogs {
  const { db, run, clock, ids, log } = deps

  async function insert(
    tx: Tx,
    integrationId: string,
    lines: readonly (Omit<PrintedLine, 'level'> & Pick<LogLine, 'level'>)[],
  ): Promise<void> {
    const workspaceId = await findWorkspaceOf(tx, integrationId)
    // The integration was deleted meanwhile.
    if (workspaceId === undefined) return
    const rows = lines.map(({ level, message, about, at }) => ({
      id: ids.next('report'),
      workspace_id: workspaceId,
      bot_id: about.botId ?? '',
      integration_id: integrationId,
      level,
      message: storableText(message.slice(0, maxMessageLength)),
      user_id: about.userId ?? null,
      workflow_id: null,
      conversation_id: about.conversationId ?? null,
      message_id: about.messageId ?? null,
      event_id: about.eventId ?? null,
      created_at: isoTime(at),
    }))
    await insertLines(tx, rows)
  }

  return {
    writeLine({ integrationId, botId, level, message }) {
      const line = { level, message, about: { botId }, at: clock.now() }
      run((tx) => insert(tx, integrationId, [line])).catch((err: unknown) =>
        log.warn({ err, integrationId }, 'a line about an integration could not be stored'),
      )
    },

    async writeLines(tx, integrationId, lines) {
      const stored = lines.map(({ level, ...line }) => ({
        ...line,
        level: level === 'debug' ? ('info' as const) : level,
      }))
      await insert(tx, integrationId, stored)
    },

    async page({ workspaceId, rights }, id, { nextToken, ...query }) {
      const filter = {
        from: timeOf('timeStart', query.timeStart, 'beginning') ?? '',
        until: timeOf('timeEnd', query.timeEnd, 'end'),
        level: query.level,
        userId: query.userId,
        workflowId: undefined,
        conversationId: query.conversationId,
        messageContains: query.messageContains,
      }
      const page = deps.pager.page({
        operation: 'getIntegrationLogs',
        scope: `${workspaceId} ${id}`,
        filter: query,
        sort: 'created_at',
        direction: 'desc',
        nextToken,
        pageSize: linesPerPage,
      })
      return await pageLines(db, { integrationId: id, bots: rights.bots }, filter, page)
    },

    sweep: (tx) =>
      deleteSomeLines(
        tx,
        { of: 'integration', before: isoTime(clock.now() - lifetime) },
        sweptAtOnce,
      ),
  }
}
