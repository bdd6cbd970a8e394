import { contract } from '@botstead/contract'
import { type Route, route } from '../../http/mount.js'
import type { SearchService } from './service.js'
import { toPassage } from './view.js'

export function searchRoutes(service: SearchService): Route[] {
  return [
    route(contract.search.files, async ({ actor, query, signal }) => {
      const found = await service.search(actor, query, signal)
      const view = {
        consolidate: query.consolidate ?? false,
        includeBreadcrumb: query.includeBreadcrumb ?? false,
        withContext: query.withContext ?? false,
      }
      return { passages: found.map((each) => toPassage(each, view)) }
    }),
  ]
}
