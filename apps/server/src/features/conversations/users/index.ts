import type { Route } from '../../../http/mount.js'
import { usersRoutes } from './routes.js'
import { createUsersService, type UsersDeps, type UsersService } from './service.js'

export { isGoodKey, requireGoodKey } from './good-keys.js'
export { publicIdOf, type UsersService } from './service.js'
export type { UserRow } from './store.js'
export { toUser } from './view.js'

export interface Users {
  service: UsersService
  routes: Route[]
}

/** The users of bots. */
export function createUsers(deps: UsersDeps): Users {
  const service = createUsersService(deps)
  return { service, routes: usersRoutes(service) }
}
