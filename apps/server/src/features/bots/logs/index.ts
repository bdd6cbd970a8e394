import { contract } from '@botstead/contract'
import { route } from '../../../http/mount.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Feature } from '../../feature.js'
import { textOf } from '../../tenancy/metering/index.js'
import {
  type BotLogsDeps,
  type BotLogsService,
  createBotLogsService,
  type LinesMove,
  moveLinesJob,
  type ShownLogRow,
} from './service.js'

export type { BotLogsService, LogLine } from './service.js'
export { lineOfReceiver } from './service.js'

/** The logs of bots, for their developers. */
export function createBotLogs(deps: BotLogsDeps): Feature & { service: BotLogsService } {
  const service = createBotLogsService(deps)
  const moveLines: JobHandler<LinesMove> = {
    mayUseReserve: true,
    handler: ({ payload: { botId } }, { signal }) => service.move(botId, signal),
    onDone: (tx, { payload }) => service.renewMove(tx, payload),
  }
  return {
    name: 'bot logs',
    service,
    sweeps: [service.sweep],
    purge: service.purge,
    jobs: { [moveLinesJob]: moveLines },
    on: {
      'bot.transferred': (tx, { botId }) => service.requestMove(tx, botId),
      'installation.withdrawn': async (tx, { botId, alias, name }) => {
        const message = `The integration ${name}, installed as ${alias}, was removed: its workspace was deleted.`
        await service.writeLine(tx, { botId, level: 'warn', message })
      },
      'quota.nearlyUsed': (tx, { botId, use }) =>
        service.writeLine(tx, { botId, level: 'warn', message: textOf(use) }),
    },
    routes: [
      route(contract.botLogs.get, async ({ actor, params, query }) => {
        const { rows, nextToken } = await service.page(actor, params.id, query)
        return { logs: rows.map(toLog), ...(nextToken !== undefined && { nextToken }) }
      }),
      route(contract.botLogs.write, async ({ actor, body }) => {
        await service.write(actor, body.logs)
        return {}
      }),
    ],
  }
}

/** A line as people see it. */
export function toLog(row: ShownLogRow) {
  return {
    timestamp: row.created_at,
    level: row.level,
    message: row.message,
    ...(row.user_id !== null && { userId: row.user_id }),
    ...(row.workflow_id !== null && { workflowId: row.workflow_id }),
    ...(row.conversation_id !== null && { conversationId: row.conversation_id }),
    ...(row.message_id && { messageId: row.message_id }),
    ...(row.event_id && { eventId: row.event_id }),
  }
}
