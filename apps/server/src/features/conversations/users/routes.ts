import { contract } from '@botstead/contract'
import { aliasOf } from '../../../domain/actor.js'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import type { UsersService } from './service.js'
import { toUser } from './view.js'

export function usersRoutes(service: UsersService): Route[] {
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
