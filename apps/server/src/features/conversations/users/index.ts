import { contract, type Output } from '@botstead/contract'
import { aliasOf } from '../../../domain/actor.js'
import { type Tags, visibleTags } from '../../../domain/tags.js'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Feature } from '../../feature.js'
import { createUsersService, type UsersDeps, type UsersService } from './service.js'
import type { UserRow } from './store.js'

export { countCreated, countCreatedBefore, findFirstCreation } from './figures-store.js'
export { isGoodKey, requireGoodKey } from './keys.js'
export type { UsersService } from './service.js'
export type { UserRow } from './store.js'

/** The users of bots. */
export function createUsers(deps: UsersDeps): Feature & { service: UsersService } {
  const service = createUsersService(deps)
  return {
    name: 'users',
    service,
    routes: usersRoutes(service),
    on: { 'bot.created': (tx, { botId }) => service.insertBot(tx, botId) },
    purge: service.purge,
  }
}

function usersRoutes(service: UsersService): Route[] {
  return [
    route(contract.users.create, async ({ actor, body, once }) =>
      once<Parameters<typeof toUser>[0]>(
        (remember) => service.create(actor, body, remember),
        (made) => ({ user: toUser(made, aliasOf(actor)) }),
      ),
    ),

    route(contract.users.get, async ({ actor, params }) => ({
      user: toUser(await service.get(actor, params.id), aliasOf(actor)),
    })),

    route(contract.users.list, async ({ actor, query }) => {
      const page = await service.list(actor, query)
      return {
        users: page.rows.map((row) => toUser(row, aliasOf(actor))),
        meta: toPageMeta(page),
      }
    }),

    route(contract.users.getOrCreate, async ({ actor, body }) => {
      const { row, created } = await service.getOrCreateByTags(actor, body)
      return { user: toUser(row, aliasOf(actor)), meta: { created } }
    }),

    route(contract.users.update, async ({ actor, params, body }) => ({
      user: toUser(await service.update(actor, params.id, body), aliasOf(actor)),
    })),

    route(contract.users.remove, async ({ actor, params }) => {
      await service.removeById(actor, params.id)
      return {}
    }),

    route(contract.users.revokeKeys, async ({ actor, params }) => {
      await service.revokeKeys(actor, params.id)
      return {}
    }),

    route(contract.users.ban, async ({ actor, params }) => {
      await service.setBan(actor, params.id, true)
      return {}
    }),

    route(contract.users.unban, async ({ actor, params }) => {
      await service.setBan(actor, params.id, false)
      return {}
    }),
  ]
}

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
