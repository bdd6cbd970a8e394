import type { Feature } from '../../feature.js'
import { accountsRoutes } from './routes.js'
import { type AccountsDeps, type AccountsService, createAccountsService } from './service.js'

export type { AccountsService } from './service.js'

export interface Accounts extends Feature {
  service: AccountsService
}

/** The people behind personal access tokens. */
export function createAccounts(deps: AccountsDeps): Accounts {
  const service = createAccountsService(deps)
  return { name: 'accounts', service, routes: accountsRoutes(service) }
}
