import type { TagFilter } from '@botstead/contract'
import type { ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely'
import type { Schema } from '../../schema.js'

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

/** Whether the tags of a row of `files` meet all conditions. */
export function matchesTags(
  eb: ExpressionBuilder<Schema, 'files'>,
  botId: string,
  conditions: readonly TagCondition[],
): ExpressionWrapper<Schema, 'files', SqlBool> {
  // Ids of files by tag, not a look at each file: the index answers it, and only once per query.
  const tagged = (name: string, values?: readonly string[]) =>
    eb
      .selectFrom('file_tags')
      .select('file_tags.file_id')
      .where('file_tags.bot_id', '=', botId)
      .where('file_tags.name', '=', name)
      .$if(values !== undefined, (query) =>
        query.where('file_tags.value', 'in', atLeastOne(values)),
      )
  return eb.and(
    conditions.flatMap((condition) => [
      ...(condition.in ? [eb('files.id', 'in', tagged(condition.name, condition.in))] : []),
      ...(condition.not ? [eb('files.id', 'not in', tagged(condition.name, condition.not))] : []),
      ...(condition.exists !== undefined
        ? [eb('files.id', condition.exists ? 'in' : 'not in', tagged(condition.name))]
        : []),
    ]),
  )
}

function toList(value: string | string[]): string[] {
  return typeof value === 'string' ? [value] : value
}

/** PostgreSQL knows no empty list; null stands for it, because nothing equals null. */
function atLeastOne(values: readonly string[] | undefined): (string | null)[] {
  return values?.length ? [...values] : [null]
}
