import { ApiError } from '@botstead/contract'
import { newTags, type TagsPatch } from './tag-patch.js'

/** What an object must carry to be the one that a get-or-create means. */
export interface TagMatch {
  /** Tags as they are stored, all of which must be equal. */
  tags: [name: string, value: string][]
  /** Whether the caller must see no further tag on it. */
  exact: boolean
  /** Beginning of the names that the caller sees; undefined for a bot, which sees all. */
  prefix: string | undefined
}

/**
 * Reads the tags of a get-or-create. With discriminators only these count, and each must be among
 * the tags; without (also with an empty list), all tags together are what the object is known by.
 */
export function tagMatchOf(
  alias: string | undefined,
  given: TagsPatch,
  discriminators: readonly string[] | undefined,
  field = 'body',
): TagMatch {
  const prefix = alias === undefined ? undefined : `${alias}:`
  if (discriminators === undefined || discriminators.length === 0) {
    return { tags: Object.entries(newTags(alias, given)), exact: true, prefix }
  }
  const tags = [...new Set(discriminators)].map((name): [string, string] => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (!value) {
      throw new ApiError(
        'InvalidPayload',
        `${field}.discriminateByTags names ${name}, which has no value in ${field}.tags.`,
        { metadata: { in: 'body', field: 'discriminateByTags' } },
      )
    }
    return [`${prefix ?? ''}${name}`, value]
  })
  return { tags, exact: false, prefix }
}
