import { contract, type Output } from '@botstead/contract'
import type { LogPosition, WorkspaceLogLine } from '../../../domain/log-lines.js'
import { fieldError } from '../../../domain/refusals.js'
import { type Route, route } from '../../../http/mount.js'
import { isoTime } from '../../../platform/clock.js'
import type { Feature } from '../../feature.js'
import { startsOf } from './counts.js'
import { createLogsService, type LogsDeps, type LogsService } from './service.js'
import { createTails, type Tails, type TailsDeps } from './tail.js'

export { endless, scanLines } from './scan.js'

/** The logs of all bots and integrations of a workspace. */
export function createLogs(
  deps: LogsDeps & Pick<TailsDeps, 'timers' | 'log' | 'authorities' | 'standing'>,
): Feature {
  const service = createLogsService(deps)
  const tails = createTails({ ...deps, prepare: service.prepare, toLine })
  return {
    name: 'logs',
    routes: logsRoutes(service, tails),
    drain: tails.stop,
  }
}

function logsRoutes(service: LogsService, tails: Tails): Route[] {
  return [
    route(contract.logs.list, async ({ actor, query }) => {
      const { lines, nextToken, readUntil, position } = await service.list(actor, query)
      return {
        logs: lines.map(toLine),
        meta: {
          ...(nextToken !== undefined && { nextToken }),
          ...(readUntil !== undefined && { readUntil }),
          position: `${position.time}/${position.id}`,
        },
      }
    }),

    route(contract.logs.counts, async ({ actor, query }) => {
      const { buckets, counts, countedFrom } = await service.counts(actor, query)
      const none = { debug: 0, info: 0, warn: 0, error: 0 }
      return {
        bucketMs: buckets.length,
        buckets: startsOf(buckets).map((start) => ({
          start: isoTime(start),
          ...(counts.get(start) ?? none),
        })),
        ...(countedFrom !== undefined && { countedFrom }),
      }
    }),

    route(contract.logs.stream, async ({ actor, query, headers }) => {
      const { lastEventId, ...filter } = query
      const after = lastEventId ?? headers['last-event-id']
      return await tails.follow(actor, filter, after === undefined ? undefined : toPosition(after))
    }),
  ]
}

type WireLine = Output<typeof contract.logs.list>['logs'][number]

function toLine(line: WorkspaceLogLine): WireLine {
  const { integrationId, integrationAlias, deliveryId, userId, workflowId, conversationId } = line
  return {
    id: line.id,
    timestamp: line.createdAt,
    source: line.source,
    level: line.level,
    message: line.message,
    ...(line.botId !== '' && { botId: line.botId }),
    ...(integrationId !== null && { integrationId }),
    ...(integrationAlias !== null && { integrationAlias }),
    ...(deliveryId !== null && { deliveryId }),
    ...(userId !== null && { userId }),
    ...(workflowId !== null && { workflowId }),
    ...(conversationId !== null && { conversationId }),
  }
}

function toPosition(text: string): LogPosition {
  const slash = text.indexOf('/')
  const time = Date.parse(text.slice(0, slash))
  if (!Number.isNaN(time)) return { time: isoTime(time), id: text.slice(slash + 1) }
  throw fieldError('query.lastEventId', 'is not the id of an event of this stream.')
}
