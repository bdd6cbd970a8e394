import type { contract, Output } from '@botstead/contract'
import { decodeBoolean } from '../../../platform/db/columns.js'
import type { AccountRow } from './service.js'

type WireAccount = Output<typeof contract.accounts.get>['account']

export function toAccount(row: AccountRow): WireAccount {
  return {
    id: row.id,
    email: row.email,
    ...(row.display_name !== null && { displayName: row.display_name }),
    emailVerified: decodeBoolean(row.email_verified),
    ...(row.profile_picture !== null && { profilePicture: row.profile_picture }),
    createdAt: row.created_at,
  }
}
