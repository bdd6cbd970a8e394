import { fieldError } from '../../../domain/refusals.js'
import type { Tags } from '../../../domain/tags.js'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import { patchedProperties, type TagsPatch } from '../tags/index.js'
import type { ProfilePatch } from './store.js'

const maxAttributes = 200

/** The public members of a user; omitted members stay unchanged. */
export interface Profile {
  name?: string
  pictureUrl?: string
  profile?: string
  /** Null removes it. */
  data?: Record<string, unknown> | null
  /** Merged by name: null removes. */
  attributes?: TagsPatch
}

/** The columns that a profile sets; attributes are merged with those before. */
export function patchOf(profile: Profile): ProfilePatch {
  return {
    ...(profile.name !== undefined && { name: profile.name }),
    ...(profile.pictureUrl !== undefined && { picture_url: profile.pictureUrl }),
    ...(profile.profile !== undefined && { profile: profile.profile }),
    ...(profile.data !== undefined && {
      data: profile.data === null ? null : encodeJson(profile.data),
    }),
  }
}

/** Properties or attributes after a change, as they are stored. */
export function merged(stored: string, changes: TagsPatch | undefined): string {
  return changes === undefined
    ? stored
    : encodeJson(patchedProperties(decodeJson<Tags>(stored), changes))
}

/** Throws `LimitExceeded` if a user would have too many attributes. */
export function requireFew(attributes: string): void {
  if (Object.keys(decodeJson<Tags>(attributes)).length <= maxAttributes) return
  throw fieldError(
    'body.attributes',
    `must leave the user with at most ${maxAttributes} attributes.`,
    'LimitExceeded',
    { maximum: maxAttributes },
  )
}
