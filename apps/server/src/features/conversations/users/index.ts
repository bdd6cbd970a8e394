import type { Feature } from '../../feature.js'
import { usersRoutes } from './routes.js'
import { createUsersService, type UsersDeps, type UsersService } from './service.js'

export { isGoodKey, requireGoodKey } from './keys.js'
export type { UsersService } from './service.js'
export type { UserRow } from './store.js'
export { publicIdOf, toUser } from './view.js'

export interface Users extends Feature {
  service: UsersService
}

/** The users of bots. */
export function createUsers(deps: UsersDeps): Users {
  const service = createUsersService(deps)
  return {
    name: 'users',
    service,
    routes: usersRoutes(service),
    on: { 'bot.created': (tx, { botId }) => service.insertBot(tx, botId) },
    purge: service.purge,
  }
}
