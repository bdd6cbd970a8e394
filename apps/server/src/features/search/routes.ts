import { contract, type Output } from '@botstead/contract'
import { type Route, route } from '../../http/mount.js'
import { toPageMeta } from '../../http/paging.js'
import { decodeJson } from '../../platform/db/columns.js'
import type { FileRow, Files } from '../files/index.js'
import type { PassageRow } from './passage-store.js'
import type { FoundPassage } from './retrieval/index.js'
import type { SearchService } from './service.js'

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

    route(contract.filePassages.reindex, async ({ actor, params }) => ({
      file: toFile(await service.reindex(actor, params.id)),
    })),

    route(contract.search.files, async ({ actor, query, signal, setHeader }) => {
      const { found, degraded } = await service.search(actor, query, signal)
      if (degraded.length > 0) setHeader('x-search-degraded', degraded.join(', '))
      const view = {
        consolidate: query.consolidate ?? false,
        includeBreadcrumb: query.includeBreadcrumb ?? false,
        withContext: query.withContext ?? false,
        explain: query.explain ?? false,
      }
      return { passages: found.map((each) => toPassage(each, view)) }
    }),
  ]
}

type WirePassage = Output<typeof contract.search.files>['passages'][number]
type WireFilePassage = Output<typeof contract.filePassages.list>['passages'][number]
type WireContext = NonNullable<WirePassage['context']>

interface PassageView {
  consolidate: boolean
  includeBreadcrumb: boolean
  withContext: boolean
  explain: boolean
}

function toPassage(found: FoundPassage, view: PassageView): WirePassage {
  if (view.consolidate) return toConsolidated(found, view)
  const match = found.matches[0]
  if (match === undefined) throw new Error('A found passage has a match')
  const parts = view.includeBreadcrumb
    ? underHeadings(found.around)
    : found.around.map(({ content }) => content)
  return {
    content: parts.join('\n\n'),
    score: found.score,
    meta: toMeta(match),
    file: toPassageFile(found.file),
    ...(view.withContext && { context: toContext(match, found.around) }),
    ...(view.explain && { explanation: found.explanation }),
  }
}

function toFilePassage(row: PassageRow): WireFilePassage {
  return { id: row.id, content: row.content, meta: toMeta(row) }
}

function toMeta({ subtype, page_number, position }: PassageRow): WirePassage['meta'] {
  return {
    type: 'chunk',
    subtype,
    ...(page_number !== null && { pageNumber: page_number }),
    position,
  }
}

function toConsolidated(found: FoundPassage, view: PassageView): WirePassage {
  // The content begins before the first match, possibly on another page.
  const first = found.around[0]
  return {
    content: underHeadings(found.around).join('\n\n'),
    score: found.score,
    meta: {
      type: 'consolidated',
      ...(first && first.page_number !== null && { pageNumber: first.page_number }),
      ...(first && { position: first.position }),
    },
    file: toPassageFile(found.file),
    ...(view.explain && { explanation: found.explanation }),
  }
}

/** Passages in reading order, each below its headings that are not above it yet. */
function underHeadings(passages: readonly PassageRow[]): string[] {
  const parts: string[] = []
  let path: string[] = []
  for (const passage of passages) {
    const headings = headingsOf(passage)
    parts.push(...headingLines(headings, sharedLength(path, headings)), passage.content)
    path = [...headings, ...decodeJson<string[]>(passage.own_headings)]
  }
  return parts
}

function toContext(match: PassageRow, around: readonly PassageRow[]): WireContext {
  const breadcrumb = headingsOf(match).map((text) => ({ text, type: 'breadcrumb' as const }))
  const passages = around.map((passage) => {
    const offset = passage.position - match.position
    const type = offset < 0 ? 'preceding' : offset > 0 ? 'subsequent' : 'current'
    return { id: passage.id, text: passage.content, offset, type } as const
  })
  return [...breadcrumb, ...passages]
}

function toPassageFile(file: FileRow): WirePassage['file'] {
  return {
    id: file.id,
    key: file.key,
    contentType: file.content_type,
    metadata: decodeJson(file.metadata),
    tags: decodeJson(file.tags),
    createdAt: file.created_at,
    updatedAt: file.updated_at,
  }
}

function headingsOf(passage: PassageRow): string[] {
  return decodeJson(passage.headings)
}

/** Headings as Markdown, from a depth on. */
function headingLines(headings: readonly string[], from: number): string[] {
  return headings
    .slice(from)
    .map((heading, index) => `${'#'.repeat(Math.min(from + index + 1, 6))} ${heading}`)
}

function sharedLength(left: readonly string[], right: readonly string[]): number {
  const difference = right.findIndex((heading, index) => heading !== left[index])
  return difference < 0 ? right.length : difference
}
