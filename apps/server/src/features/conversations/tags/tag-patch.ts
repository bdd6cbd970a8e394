import { ApiError } from '@botstead/contract'
import { fieldError } from '../../../domain/refusals.js'
import { storedTags, type Tags, visibleTags } from '../../../domain/tags.js'
import type { TagMatch } from './store.js'

/** Tags of a request: `null` and `""` mean that there is to be no such tag. */
export type TagsPatch = Readonly<Record<string, string | null>>

/** Tags that the bot, or one integration, may give to one object. */
const maxTags = 50

/**
 * Tags of a new object as they are stored.
 * @param alias of the integration that calls; undefined for the bot
 */
export function newTags(alias: string | undefined, given: TagsPatch): Tags {
  const tags = storedTags(alias, present(given))
  checkCount(alias, tags)
  return tags
}

/**
 * The stored tags after an update by the bot or by an integration. Unmentioned tags stay.
 * Throws `Forbidden` if a bot changes a tag that an integration manages.
 */
export function patchedTags(
  alias: string | undefined,
  stored: Tags,
  patch: TagsPatch | undefined,
): Tags {
  if (patch === undefined) return stored
  const next = new Map(Object.entries(stored))
  for (const [bare, value] of Object.entries(patch)) {
    const name = alias === undefined ? bare : `${alias}:${bare}`
    const wanted = value === null || value === '' ? undefined : value
    if (next.get(name) === wanted) continue
    if (alias === undefined && bare.includes(':')) {
      throw fieldError(
        `body.tags.${bare}`,
        'is managed by an integration: a bot cannot change it.',
        'Forbidden',
      )
    }
    if (wanted === undefined) next.delete(name)
    else next.set(name, wanted)
  }
  const tags = Object.fromEntries(next)
  checkCount(alias, tags)
  return tags
}

/** Properties after an update: `null` and `""` remove; unmentioned ones stay. */
export function patchedProperties(stored: Tags, patch: TagsPatch | undefined): Tags {
  if (patch === undefined) return stored
  const removed = new Set(Object.keys(patch).filter((name) => !patch[name]))
  const kept = Object.entries({ ...stored, ...present(patch) })
  return Object.fromEntries(kept.filter(([name]) => !removed.has(name)))
}

function present(patch: TagsPatch): Tags {
  const entries = Object.entries(patch)
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== null && entry[1] !== ''),
  )
}

function checkCount(alias: string | undefined, tags: Tags): void {
  const own = alias === undefined ? Object.keys(tags).filter((name) => !name.includes(':')) : []
  const count = alias === undefined ? own.length : Object.keys(visibleTags(alias, tags)).length
  if (count <= maxTags) return
  throw new ApiError(
    'LimitExceeded',
    `body.tags: an object may carry ${maxTags} tags of a bot or integration, not ${count}.`,
    { metadata: { in: 'body', field: 'tags' } },
  )
}

/**
 * Reads the tags of a get-or-create. With discriminators only these count, and each must be among
 * the tags; without (also with an empty list), all tags together identify the object.
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
