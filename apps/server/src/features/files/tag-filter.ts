import type { TagFilter } from '@botstead/contract'

/** What one tag must be; all that are given must hold. */
export interface TagCondition {
  name: string
  /** One of these values. */
  in?: readonly string[]
  /** None of these values; a file without the tag passes. */
  not?: readonly string[]
  exists?: boolean
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
