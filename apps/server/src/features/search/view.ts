import type { contract, Output } from '@botstead/contract'
import { decodeJson } from '../../platform/db/columns.js'
import type { FileRow } from '../files/index.js'
import type { PassageRow } from './passage-store.js'
import type { FoundPassage } from './retrieval/index.js'

export type WirePassage = Output<typeof contract.search.files>['passages'][number]
type WireFilePassage = Output<typeof contract.filePassages.list>['passages'][number]
type WireContext = NonNullable<WirePassage['context']>

export interface PassageView {
  consolidate: boolean
  includeBreadcrumb: boolean
  withContext: boolean
  explain: boolean
}

export function toPassage(found: FoundPassage, view: PassageView): WirePassage {
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

export function toFilePassage(row: PassageRow): WireFilePassage {
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
export function underHeadings(passages: readonly PassageRow[]): string[] {
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

export function headingsOf(passage: PassageRow): string[] {
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
