import { contract, type Output } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import { decodeBoolean } from '../../../platform/db/columns.js'
import type { AccountRow, AccountsService } from './service.js'

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

type WireAccount = Output<typeof contract.accounts.get>['account']

function toAccount(row: AccountRow): WireAccount {
  return {
    id: row.id,
    email: row.email,
    ...(row.display_name !== null && { displayName: row.display_name }),
    emailVerified: decodeBoolean(row.email_verified),
    ...(row.profile_picture !== null && { profilePicture: row.profile_picture }),
    createdAt: row.created_at,
  }
}
