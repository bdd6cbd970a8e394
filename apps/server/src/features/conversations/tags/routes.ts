import { contract } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import type { TagsService } from './service.js'

export function tagsRoutes(service: TagsService): Route[] {
  return [
    route(contract.tags.listValues, async ({ actor, params, query }) => {
      const page = await service.listValues(actor, params.key, query)
      return { tags: page.rows.map(({ value }) => ({ value })), meta: toPageMeta(page) }
    }),
  ]
}
