import { createUsersService, type UsersDeps, type UsersService } from './service.js'

export { publicIdOf, type UsersService } from './service.js'
export type { UserRow } from './store.js'

export interface Users {
  service: UsersService
}

/** The users of bots. */
export function createUsers(deps: UsersDeps): Users {
  return { service: createUsersService(deps) }
}
