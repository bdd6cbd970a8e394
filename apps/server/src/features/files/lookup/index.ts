import type { Body, contract, TagFilter } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import { decodeJson, type JsonColumn } from '../../../platform/db/columns.js'
import type { FileScope, TagCondition } from './store.js'

/*
 * What a query of files begins with: who sees what, which tags, and the parts of a query that search joins
 * to its own tables. A door of its own, because threads of search come through it: with uploads, routes and
 * the contract, which `../index.ts` loads, a thread takes longer to start than its first search takes.
 */

export type { FileRow } from '../table.js'
export {
  type FileScope,
  fileKeys,
  indexingRequests,
  isVisible,
  listFileKeys,
  listFilesByIds,
  matchesTags,
  searchableFiles,
  type TagCondition,
} from './store.js'

/** How the file was asked to be indexed. */
export type IndexingConfiguration = NonNullable<
  Body<typeof contract.files.upsert>['indexing']
>['configuration']

/**
 * What a caller may see.
 * @param now ISO 8601
 */
export function scopeOf(actor: BotActor, now: string): FileScope {
  return {
    botId: actor.botId,
    integrationId: actor.caller.type === 'integration' ? actor.caller.id : undefined,
    now,
  }
}

/** The conditions of a tag filter as it came over the wire. */
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

/** Reads the column `indexing` of `file_contents`, which is null where nothing was asked for. */
export function toIndexingConfiguration(indexing: JsonColumn | null): IndexingConfiguration {
  if (indexing === null) return {}
  return decodeJson<{ configuration?: IndexingConfiguration }>(indexing).configuration ?? {}
}
