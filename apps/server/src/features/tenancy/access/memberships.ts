import { type Rights, rightsOf, type TokenLimits } from '../../../domain/rights.js'
import type { Db } from '../../../platform/db/schema.js'
import type { MembersService } from '../members/index.js'
import { listHiddenBots } from './allowlist-store.js'

/** The rights of members as the database has them now. */
export interface Memberships {
  /** Undefined if the account is no member, or the token is limited to another workspace. */
  rightsIn(
    accountId: string,
    workspaceId: string,
    limits?: TokenLimits,
  ): Promise<Rights | undefined>
}

interface MembershipsDeps {
  db: Db
  members: Pick<MembersService, 'roleOf'>
}

/** Reads memberships: the role of a member, and the bots that are limited to others. */
export function createMemberships({ db, members }: MembershipsDeps): Memberships {
  return {
    async rightsIn(accountId, workspaceId, limits) {
      if (limits?.workspaceId !== undefined && limits.workspaceId !== workspaceId) return undefined
      const role = await members.roleOf(accountId, workspaceId)
      if (role === undefined) return undefined
      const rights = rightsOf(role, [], limits)
      if (rightsOf(role).permissions.has('bots:manage')) return rights
      const hidden = await listHiddenBots(db, workspaceId, accountId)
      return hidden.length === 0 ? rights : rightsOf(role, hidden, limits)
    },
  }
}
