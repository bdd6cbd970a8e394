import { contract, type Output } from '@botstead/contract'
import type { Addresses } from '../../../domain/addresses.js'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import type { Feature } from '../../feature.js'
import type { createAccounts } from '../accounts/index.js'
import {
  createMembersService,
  type Invitation,
  invitationUrl,
  type MadeInvitation,
  type MemberRecord,
  type MembersDeps,
  type MembersService,
  recordOwn,
} from './service.js'

export type { MembersService } from './service.js'
export { recordByOperator, recordOfAccount, recordOwn } from './service.js'
export { workspacesOf } from './store.js'

type RecordPort = ReturnType<typeof createAccounts>['record']

interface Deps extends Omit<MembersDeps, 'accounts' | 'mail'> {
  accounts: { service: MembersDeps['accounts']; record: Pick<RecordPort, 'fill'> }
  mail: { service: MembersDeps['mail'] }
}

/** The people of workspaces, and invitations to become one. */
export function createMembers(deps: Deps): Feature & { service: MembersService } {
  deps.accounts.record.fill((tx, actor, act) => recordOwn(deps, tx, actor, act))
  const service = createMembersService({
    ...deps,
    accounts: deps.accounts.service,
    mail: deps.mail.service,
  })
  return { name: 'members', service, routes: membersRoutes(service, deps.addresses) }
}

function membersRoutes(service: MembersService, addresses: Pick<Addresses, 'base'>): Route[] {
  const invitationOf = ({ code, expiresAt, isMailed }: MadeInvitation) => ({
    invitationUrl: invitationUrl(addresses, code),
    invitationExpiresAt: expiresAt,
    isMailed,
  })

  return [
    route(contract.members.list, async ({ actor, query }) => {
      const page = await service.list(actor, query)
      return { members: page.rows.map(toMember), meta: toPageMeta(page) }
    }),

    route(contract.members.getOwn, async ({ actor }) => toMember(await service.getOwn(actor))),

    route(contract.members.create, async ({ actor, body, once }) =>
      once<Invitation>(
        (remember) => service.invite(actor, body, remember),
        (made) => ({ ...toMember(made), ...invitationOf(made) }),
      ),
    ),

    route(contract.members.renewInvitation, async ({ actor, params, body }) =>
      invitationOf(await service.renewInvitation(actor, params.id, body)),
    ),

    route(contract.members.update, async ({ actor, params, body }) =>
      toMember(await service.update(actor, params.id, body)),
    ),

    route(contract.members.remove, async ({ actor, params }) => {
      await service.remove(actor, params.id)
      return {}
    }),
  ]
}

function toMember({ member, account }: MemberRecord): Output<typeof contract.members.getOwn> {
  return {
    id: member.id,
    ...(member.account_id !== null && { userId: member.account_id }),
    email: account?.email ?? member.email ?? '',
    createdAt: member.created_at,
    role: member.role,
    ...(account?.profile_picture != null && { profilePicture: account.profile_picture }),
    ...(account?.display_name != null && { displayName: account.display_name }),
  }
}
