import type { contract, Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { timeOf } from '../../../domain/times.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { storableText } from '../../../platform/db/columns.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import type { Log } from '../../../platform/telemetry/log.js'
import * as store from './log-store.js'

type LogsQuery = Query<typeof contract.integrations.getLogs>

/** An event between an integration and this server. */
interface LogLine {
  integrationId: string
  botId: string
  level: store.LogRow['level']
  message: string
}

/** A line that code printed, with what it is about. */
interface PrintedLine {
  level: 'debug' | store.LogRow['level']
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
  page(actor: WorkspaceActor, id: string, query: LogsQuery): Promise<Page<store.LogRow>>
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
  return {
    writeLine({ integrationId, botId, level, message }) {
      const row = {
        id: ids.next('report'),
        integration_id: integrationId,
        bot_id: botId,
        level,
        message: storableText(message.slice(0, maxMessageLength)),
        user_id: null,
        conversation_id: null,
        message_id: null,
        event_id: null,
        created_at: isoTime(clock.now()),
      }
      run((tx) => store.insertLogs(tx, [row])).catch((err: unknown) =>
        log.warn({ err, integrationId }, 'a line about an integration could not be stored'),
      )
    },

    async writeLines(tx, integrationId, lines) {
      const rows = lines.map(({ level, message, about, at }) => ({
        id: ids.next('report'),
        integration_id: integrationId,
        bot_id: about.botId ?? '',
        level: level === 'debug' ? ('info' as const) : level,
        message: storableText(message.slice(0, maxMessageLength)),
        user_id: about.userId ?? null,
        conversation_id: about.conversationId ?? null,
        message_id: about.messageId ?? null,
        event_id: about.eventId ?? null,
        created_at: isoTime(at),
      }))
      await store.insertLogs(tx, rows)
    },

    async page({ workspaceId }, id, { nextToken, ...query }) {
      const filter = {
        from: timeOf('timeStart', query.timeStart, 'beginning') ?? '',
        until: timeOf('timeEnd', query.timeEnd, 'end'),
        level: query.level,
        userId: query.userId,
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
      return await store.pageLogs(db, id, filter, page)
    },

    sweep: (tx) =>
      store.deleteSomeLogs(tx, { before: isoTime(clock.now() - lifetime) }, sweptAtOnce),
  }
}
