import { contract, type Query } from '@botstead/contract'
import { type Route, route } from '../../http/mount.js'
import { toPageMeta } from '../../http/paging.js'
import type { Files } from '../files/index.js'
import { toExplainedPassage, toQuestion, toTarget } from './explanation-view.js'
import type { SearchService } from './service.js'
import { type PassageView, toFilePassage, toPassage } from './view.js'

interface SearchRoutesDeps {
  service: SearchService
  /** Converts a file to its form in the API. */
  toFile: Files['toFile']
}

export function searchRoutes({ service, toFile }: SearchRoutesDeps): Route[] {
  return [
    route(contract.filePassages.list, async ({ actor, params, query }) => {
      const page = await service.listPassages(actor, params.id, query)
      return { passages: page.rows.map(toFilePassage), meta: toPageMeta(page) }
    }),

    route(contract.filePassages.set, async ({ actor, params, body, signal }) => {
      await service.replacePassages(actor, params.id, body, signal)
      return {}
    }),

    route(contract.filePassages.reindex, async ({ actor, params, body }) => ({
      file: toFile(await service.reindex(actor, params.id, body.indexing)),
    })),

    route(contract.search.files, async ({ actor, query, signal, setHeader }) => {
      const { found, degraded } = await service.search(actor, query, signal)
      if (degraded.length > 0) setHeader('x-search-degraded', degraded.join(', '))
      const view = viewOf(query)
      return { passages: found.map((each) => toPassage(each, view)) }
    }),

    route(contract.explanations.search, async ({ actor, query, signal, setHeader }) => {
      const { found, degraded, explanation } = await service.explain(actor, query, signal)
      if (degraded.length > 0) setHeader('x-search-degraded', degraded.join(', '))
      const view = viewOf(query)
      const { question, matches, target } = explanation
      return {
        passages: found.map((each) => toExplainedPassage(each, view, matches)),
        question: toQuestion(question),
        ...(target && { target: toTarget(target) }),
        degraded: [...degraded],
      }
    }),
  ]
}

function viewOf(query: Query<typeof contract.search.files>): PassageView {
  return {
    consolidate: query.consolidate ?? false,
    includeBreadcrumb: query.includeBreadcrumb ?? false,
    withContext: query.withContext ?? false,
    explain: query.explain ?? false,
  }
}
