import { contract, type Output } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { FilesDeps } from '../dependencies.js'
import { createKnowledgeBasesService } from './service.js'
import type { KnowledgeBaseRow } from './store.js'

type WireKnowledgeBase = Output<typeof contract.knowledgeBases.create>['knowledgeBase']

export interface KnowledgeBases {
  routes: Route[]
  /** Deletes the knowledge bases of a deleted bot. */
  purge(botId: string): Promise<void>
}

/** Names for groups of files; see `service.ts`. */
export function createKnowledgeBases(
  deps: Pick<FilesDeps, 'db' | 'run' | 'clock' | 'ids' | 'pager'>,
): KnowledgeBases {
  const service = createKnowledgeBasesService(deps)
  return {
    purge: service.purge,
    routes: [
      route(contract.knowledgeBases.create, ({ actor, body, once }) =>
        once<KnowledgeBaseRow>(
          (remember) => service.create(actor, body, remember),
          (row) => ({ knowledgeBase: toKnowledgeBase(row) }),
        ),
      ),

      route(contract.knowledgeBases.list, async ({ actor, query }) => {
        const page = await service.list(actor, query)
        return { knowledgeBases: page.rows.map(toKnowledgeBase), meta: toPageMeta(page) }
      }),

      route(contract.knowledgeBases.update, async ({ actor, params, body }) => ({
        knowledgeBase: toKnowledgeBase(await service.update(actor, params.id, body)),
      })),

      route(contract.knowledgeBases.remove, async ({ actor, params }) => {
        await service.remove(actor, params.id)
        return {}
      }),
    ],
  }
}

function toKnowledgeBase(row: KnowledgeBaseRow): WireKnowledgeBase {
  return { id: row.id, name: row.name, createdAt: row.created_at, tags: decodeJson(row.tags) }
}
