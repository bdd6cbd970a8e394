import type { contract, Output } from '@botstead/contract'
import { type Tags, visibleTags } from '../../../domain/tags.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { UserRow } from './store.js'

type WireUser = Output<typeof contract.users.get>['user']

/**
 * A user as bots and integrations see it.
 * @param alias of the calling integration; undefined for the bot
 */
export function toUser(row: UserRow, alias: string | undefined): WireUser {
  const properties = decodeJson<Tags>(row.properties)
  const attributes = decodeJson<Tags>(row.attributes)
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    tags: visibleTags(alias, decodeJson<Tags>(row.tags)),
    ...(row.name !== null && { name: row.name }),
    ...(row.picture_url !== null && { pictureUrl: row.picture_url }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(Object.keys(attributes).length > 0 && { attributes }),
    ...(row.banned === 1 && { banned: true }),
  }
}

/** The public id of a user. */
export function publicIdOf(user: Pick<UserRow, 'id' | 'foreign_id'>): string {
  return user.foreign_id ?? user.id
}
