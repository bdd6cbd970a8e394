import { type contract, maxCounted, maxScanned, type Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page } from '../../../platform/db/paginate.js'
import * as listing from '../listing-store.js'
import { type ListedReceiver, pageReceivers } from '../receiver-store.js'
import { createSelection, type SelectionDeps } from '../selection.js'
import type { DeliveryRow } from '../store.js'

type ReceiversQuery = Query<typeof contract.workspaceDeliveries.receivers>
type ListQuery = Query<typeof contract.workspaceDeliveries.list>

export interface OverviewDeps extends SelectionDeps {
  pager: Pager
}

/** A page of deliveries, with the types of their events by subject. */
export interface DeliveriesPage extends Page<DeliveryRow> {
  eventTypes: ReadonlyMap<string, string>
  /** On the first page only. */
  counts: Awaited<ReturnType<typeof listing.countOfReceivers>> | undefined
}

/** Creates the service that shows members of a workspace the deliveries of all its bots. */
export function createOverviewService({ db, pager, bots }: OverviewDeps) {
  const { botsOf, receiversOf } = createSelection({ db, bots })

  return {
    async list(
      actor: WorkspaceActor,
      { nextToken, pageSize, ...filter }: ListQuery,
    ): Promise<DeliveriesPage> {
      const page = pager.page({
        operation: 'listWorkspaceDeliveries',
        scope: actor.workspaceId,
        filter,
        sort: 'created_at',
        direction: 'desc',
        nextToken,
        pageSize,
      })
      const { status: statuses, botId, ...narrowing } = filter
      const receivers = await receiversOf(await botsOf(actor, botId, 'query.botId'), narrowing)
      const listed = { ...narrowing, ...listing.inUtc(narrowing), statuses }
      const found = await listing.pageOfReceivers(db, receivers, listed, page, maxScanned)
      return {
        ...found,
        eventTypes: await listing.findEventTypes(db, found.rows),
        counts:
          page.after === undefined
            ? await listing.countOfReceivers(db, receivers, listed, {
                max: maxCounted,
                maxScanned,
              })
            : undefined,
      }
    },

    async listReceivers(
      actor: WorkspaceActor,
      { nextToken, pageSize, ...filter }: ReceiversQuery,
    ): Promise<Page<ListedReceiver>> {
      const page = pager.page({
        operation: 'listWorkspaceDeliveryReceivers',
        scope: actor.workspaceId,
        filter,
        sort: 'bot_id',
        direction: 'asc',
        nextToken,
        pageSize,
      })
      const botIds = await botsOf(actor, filter.botId, 'query.botId')
      return await pageReceivers(db, botIds, filter.paused, page)
    },
  }
}
