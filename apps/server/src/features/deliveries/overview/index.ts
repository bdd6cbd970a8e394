import { contract, type Output } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import type { ListedReceiver } from '../receiver-store.js'
import type { DeliveryRow } from '../store.js'
import { toDelivery, toReceiver } from '../view.js'
import { createDetails, type DetailsDeps } from './details.js'
import { createOverviewService, type DeliveriesPage, type OverviewDeps } from './service.js'

const { workspaceDeliveries } = contract

type WireReceiver = Output<typeof workspaceDeliveries.receivers>['receivers'][number]
type WireList = Output<typeof workspaceDeliveries.list>

/** The deliveries of all bots of a workspace. */
export function overviewRoutes(deps: OverviewDeps & DetailsDeps): Route[] {
  const service = createOverviewService(deps)
  const detailsOf = createDetails(deps)
  return [
    route(workspaceDeliveries.list, async ({ actor, query }) => {
      const page = await service.list(actor, query)
      return {
        deliveries: page.rows.map((row) => toWorkspaceDelivery(row, page.eventTypes)),
        ...(page.counts && { counts: toCounts(page.counts) }),
        meta: toPageMeta(page),
      }
    }),

    route(workspaceDeliveries.get, async ({ actor, params }) => ({
      delivery: await detailsOf(actor, params.deliveryId),
    })),

    route(workspaceDeliveries.receivers, async ({ actor, query }) => {
      const page = await service.listReceivers(actor, query)
      return { receivers: page.rows.map(toListedReceiver), meta: toPageMeta(page) }
    }),
  ]
}

function toWorkspaceDelivery(
  row: DeliveryRow,
  eventTypes: ReadonlyMap<string, string>,
): WireList['deliveries'][number] {
  const eventType = eventTypes.get(row.subject_id)
  return {
    ...toDelivery(row),
    botId: row.bot_id,
    ...(eventType !== undefined && { eventType }),
  }
}

function toListedReceiver(row: ListedReceiver): WireReceiver {
  const [createdAt = '', id = ''] = row.oldest_waiting?.split('/') ?? []
  return {
    ...toReceiver(row),
    botId: row.bot_id,
    ...(row.oldest_waiting !== null && { oldestWaiting: { id, createdAt } }),
  }
}

function toCounts({
  pending,
  delivered,
  failed,
  canceled,
}: NonNullable<DeliveriesPage['counts']>): WireList['counts'] {
  const all = [pending, delivered, failed, canceled]
  return {
    pending: pending.count,
    delivered: delivered.count,
    failed: failed.count,
    canceled: canceled.count,
    total: all.reduce((sum, { count }) => sum + count, 0),
    isExact: all.every(({ isExact }) => isExact),
  }
}
