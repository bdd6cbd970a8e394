import { contract } from '@botstead/contract'
import { type LogLevel, logLevels } from '../../../domain/log-lines.js'
import { route } from '../../../http/mount.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Feature } from '../../feature.js'
import { textOf } from '../../tenancy/metering/index.js'
import { createFollowing } from '../bots/index.js'
import { type LogLineRow, listPositions, moveLines } from '../log-lines/index.js'
import {
  type BotLogsDeps,
  type BotLogsService,
  createBotLogsService,
  type ShownLogRow,
} from './service.js'

export type { BotLogsService, LogLine } from './service.js'
export { lineOfReceiver } from './service.js'

interface Deps extends BotLogsDeps {
  queue: Pick<Queue, 'enqueue'>
}

/** Lines that one transaction moves. */
const movedAtOnce = 500

/** The logs of bots, for their developers. */
export function createBotLogs(deps: Deps): Feature & { service: BotLogsService } {
  const service = createBotLogsService(deps)
  const following = createFollowing(deps, { kind: 'bot-logs.move', moveSome: moveSomeLines })
  return {
    name: 'bot logs',
    service,
    sweeps: [service.sweep],
    purge: service.purge,
    jobs: following.jobs,
    on: {
      'bot.transferred': (tx, { botId }) => following.request(tx, botId),
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

/** Lines of some levels: of the first one those after one of them. */
interface LinePosition {
  levels: readonly LogLevel[]
  after: Pick<LogLineRow, 'id' | 'created_at'> | undefined
}

/** Moves some lines of a bot to the workspace where it is. An index has them level by level. */
async function moveSomeLines(
  tx: Tx,
  bot: { id: string; workspaceId: string },
  { levels, after }: LinePosition = { levels: logLevels, after: undefined },
): Promise<LinePosition | undefined> {
  const [level, ...rest] = levels
  if (level === undefined) return undefined
  const lines = await listPositions(tx, bot.id, level, after, movedAtOnce)
  const last = lines.at(-1)
  if (last === undefined) return { levels: rest, after: undefined }
  const ids = lines.map(({ id }) => id)
  await moveLines(tx, ids, bot.workspaceId)
  return { levels, after: last }
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
