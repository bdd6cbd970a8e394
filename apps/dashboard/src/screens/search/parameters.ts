import type { Search } from '../../api/address.js'
import { tagConditionsOf } from '../../ui/tags.js'
import type { SearchInput } from './queries.js'

/** The column to which settings belong. */
export type Side = 'left' | 'right'

/** Names of the settings in the address; those of the right column begin with `b-`. */
export const settingNames = [
  'limit',
  'context',
  'minScore',
  'breadcrumb',
  'consolidate',
  'tags',
] as const
export type SettingName = (typeof settingNames)[number]

export function nameOf(side: Side, name: SettingName): string {
  return side === 'left' ? name : `b-${name}`
}

function numberOf(text: string | undefined, lowest: number, highest: number): number | undefined {
  const value = Number(text)
  if (text === undefined || text === '' || Number.isNaN(value)) return undefined
  return Math.min(Math.max(value, lowest), highest)
}

/** The query with the settings of one column; the server chooses settings that the address omits. */
export function inputOf(search: Search, side: Side): SearchInput {
  const get = (name: SettingName) => search[nameOf(side, name)]
  const limit = numberOf(get('limit'), 1, 50)
  const contextDepth = numberOf(get('context'), 0, 10)
  const minScore = numberOf(get('minScore'), 0, 1)
  const tags = get('tags')
  const fileId = search.in ?? search.missed
  return {
    query: search.q ?? '',
    ...(limit !== undefined && { limit: Math.round(limit) }),
    ...(contextDepth !== undefined && { contextDepth: Math.round(contextDepth) }),
    ...(minScore !== undefined && { minScore }),
    ...(get('breadcrumb') === 'yes' && { includeBreadcrumb: true }),
    ...(get('consolidate') === 'yes' && { consolidate: true }),
    ...(tags !== undefined && { tags: tagConditionsOf(tags) }),
    ...(fileId !== undefined && { fileId }),
  }
}
