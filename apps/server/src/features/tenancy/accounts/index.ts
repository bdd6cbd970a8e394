import type { Route } from '../../../http/mount.js'
import { accountsRoutes } from './routes.js'
import { type AccountsDeps, type AccountsService, createAccountsService } from './service.js'

export type { AccountsService } from './service.js'

export interface Accounts {
  service: AccountsService
  routes: Route[]
}

/** The people behind personal access tokens. */
export function createAccounts(deps: AccountsDeps): Accounts {
  const service = createAccountsService(deps)
  return { service, routes: accountsRoutes(service) }
}
