import { ApiError, type contract, type Query } from '@botstead/contract'
import type { BotScope } from '../../domain/rights.js'
import type { Db } from '../../platform/db/schema.js'
import type { BotsService } from '../bots/bots/index.js'
import { listReceiversOf } from './listing-store.js'
import { listPausedReceivers } from './receiver-store.js'
import { type ReceiverColumns, receiverKeyOf } from './store.js'

/** Conditions on the deliveries of a workspace, besides their status. */
export type WorkspaceFilter = Omit<
  Query<typeof contract.workspaceDeliveries.list>,
  'nextToken' | 'pageSize' | 'status'
>

export interface SelectionDeps {
  db: Db
  bots: Pick<BotsService, 'idsIn' | 'isIn'>
}

/** Makes the functions that find the bots and receivers which a filter is about. */
export function createSelection({ db, bots }: SelectionDeps) {
  return {
    /**
     * @param field path of the id in the request
     * @throws ApiError `ReferenceNotFound` for a bot outside of the workspace
     */
    async botsOf(scope: BotScope, botId: string | undefined, field: string): Promise<string[]> {
      if (botId === undefined) return await bots.idsIn(scope)
      if (await bots.isIn(scope, botId)) return [botId]
      throw new ApiError(
        'ReferenceNotFound',
        `${field}: there is no bot ${botId} in this workspace.`,
      )
    },

    /** The receivers that the deliveries of a filter are for. */
    async receiversOf(
      botIds: readonly string[],
      { receiver, integration, receiverPaused }: WorkspaceFilter,
    ): Promise<ReceiverColumns[]> {
      const all = await listReceiversOf(db, botIds)
      const named = all.filter(
        (each) =>
          (integration === undefined || each.integration === integration) &&
          (receiver === undefined || (receiver === 'bot') === (each.integration === '')),
      )
      if (receiverPaused === undefined) return named
      const paused = new Set((await listPausedReceivers(db, botIds)).map(receiverKeyOf))
      return named.filter((each) => paused.has(receiverKeyOf(each)) === receiverPaused)
    },
  }
}
