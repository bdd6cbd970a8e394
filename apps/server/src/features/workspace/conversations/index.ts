import { contract } from '@botstead/contract'
import { route } from '../../../http/mount.js'
import type { Feature } from '../../feature.js'
import {
  type ConversationListDeps,
  type ConversationListService,
  createConversationListService,
} from './service.js'
import { toPage, toSummary } from './view.js'

export type { ConversationListService } from './service.js'
export { personOf } from './view.js'

/** Conversations of a workspace, for people who look at them. */
export function createConversationList(
  deps: ConversationListDeps,
): Feature & { service: ConversationListService } {
  const service = createConversationListService(deps)
  return {
    name: 'conversation list',
    service,
    routes: [
      route(contract.inspection.list, async ({ actor, query }) =>
        toPage(await service.list(actor, query)),
      ),
      route(contract.inspection.export, async ({ actor, query }) => ({
        status: 200,
        headers: {
          'content-type': 'application/x-ndjson',
          'content-disposition': 'attachment; filename="conversations.jsonl"',
          'cache-control': 'no-store',
        },
        ...(await service.export(actor, query)),
      })),
      route(contract.inspection.get, async ({ actor, params }) => ({
        conversation: toSummary(await service.get(actor, params.id)),
      })),
    ],
  }
}
