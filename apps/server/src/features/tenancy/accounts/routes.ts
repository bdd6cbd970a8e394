import { contract } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import type { AccountsService } from './service.js'
import { toAccount } from './view.js'

export function accountsRoutes(service: AccountsService): Route[] {
  return [
    route(contract.accounts.get, async ({ actor }) => ({
      account: toAccount(await service.get(actor)),
    })),

    route(contract.accounts.update, async ({ actor, body }) => ({
      account: toAccount(await service.update(actor, body)),
    })),
  ]
}
