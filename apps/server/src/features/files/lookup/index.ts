import type { Body, contract, TagFilter } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import { decodeJson, type JsonColumn } from '../../../platform/db/columns.js'
import type { FileScope, TagCondition } from './store.js'

/*
 * The common parts of queries of files: visibility, tags, and the parts of a query that search joins
 * to its own tables. A door of its own, because search threads import it: with uploads, routes and
 * the contract, which `../index.ts` loads, a thread would take longer to start than its first search.
 */

export type { FileRow } from '../table.js'
export {
  type FileScope,
  fileKeys,
  indexingRequests,
  isSearchable,
  isVisible,
  listFileKeys,
  listFilesByIds,
  listFilesByKeys,
  listSearchableFiles,
  matchesTags,
  type ScopeExpressions,
  type SearchableFile,
  searchableFiles,
  type TagCondition,
} from './store.js'

/** The indexing options of an upsert. */
export type IndexingConfiguration = NonNullable<
  Body<typeof contract.files.upsert>['indexing']
>['configuration']

/**
 * The files that a caller may see.
 * @param now ISO 8601
 */
export function scopeOf(actor: BotActor, now: string): FileScope {
  return {
    botId: actor.botId,
    integrationId: actor.caller.type === 'integration' ? actor.caller.id : undefined,
    now,
  }
}

/** Converts a tag filter of the API to conditions. */
export function toTagConditions(filter: TagFilter | undefined): TagCondition[] {
  return Object.entries(filter ?? {}).map(([name, condition]) => {
    if (typeof condition === 'string' || Array.isArray(condition)) {
      return { name, in: toList(condition) }
    }
    return {
      name,
      ...(condition.in !== undefined && { in: toList(condition.in) }),
      ...(condition.not !== undefined && { not: toList(condition.not) }),
      ...(condition.exists !== undefined && { exists: condition.exists }),
    }
  })
}

function toList(value: string | string[]): string[] {
  return typeof value === 'string' ? [value] : value
}

/** Parses the column `indexing` of `file_contents`, which is null without options. */
export function toIndexingConfiguration(indexing: JsonColumn | null): IndexingConfiguration {
  if (indexing === null) return {}
  return decodeJson<{ configuration?: IndexingConfiguration }>(indexing).configuration ?? {}
}
