import { ApiError, contract } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { AccountsService } from '../accounts/index.js'
import type { MembersService } from '../members/index.js'
import type { WorkspacesService } from '../workspaces/index.js'
import type { MadeToken } from './service.js'
import type { SessionsService } from './sessions.js'

interface InvitationsDeps {
  db: Db
  run: Run
  members: Pick<MembersService, 'findInvitation' | 'accept'>
  workspaces: Pick<WorkspacesService, 'nameOf'>
  accounts: Pick<AccountsService, 'create'>
  sessions: Pick<SessionsService, 'begin'>
}

/** For those who have the address of an invitation. */
export function invitationRoutes(deps: InvitationsDeps): Route[] {
  const { db, run, members } = deps
  return [
    route(contract.invitations.get, async ({ body }) => {
      const invitation = await requireInvitation(deps, db, body.code)
      return {
        workspaceName: await deps.workspaces.nameOf(invitation.workspace_id),
        email: invitation.email ?? '',
        role: invitation.role,
        expiresAt: invitation.invitation_expires_at ?? '',
      }
    }),

    route(contract.invitations.accept, async ({ actor, body }) =>
      run(async (tx) => {
        const invitation = await requireInvitation(deps, tx, body.code)
        if (!(await members.accept(tx, invitation, actor.accountId))) throw noInvitation()
        return { workspaceId: invitation.workspace_id }
      }),
    ),

    route(contract.invitations.signUp, async ({ body, beginSession }) => {
      const { workspaceId, session } = await signUp(deps, body)
      beginSession(session.value, session.token.expires_at ?? '')
      return { workspaceId }
    }),
  ]
}

/** Makes the account, the membership and the session in one transaction. */
async function signUp(
  { run, members, accounts, sessions, ...deps }: InvitationsDeps,
  { code, displayName }: { code: string; displayName: string },
): Promise<{ workspaceId: string; session: MadeToken }> {
  return await run(async (tx) => {
    const invitation = await requireInvitation({ ...deps, members }, tx, code)
    const accountId = await accounts.create(tx, { email: invitation.email ?? '', displayName })
    if (accountId === undefined) {
      throw new ApiError(
        'AlreadyExists',
        `There is an account with the address ${invitation.email}: sign in with it, then open the invitation again.`,
      )
    }
    if (!(await members.accept(tx, invitation, accountId))) throw noInvitation()
    const session = await sessions.begin(tx, accountId, 'Invitation')
    return { workspaceId: invitation.workspace_id, session }
  })
}

async function requireInvitation(
  { members }: Pick<InvitationsDeps, 'members'>,
  executor: Db | Tx,
  code: string,
) {
  const invitation = await members.findInvitation(executor, code)
  if (invitation === undefined) throw noInvitation()
  return invitation
}

function noInvitation(): ApiError {
  return new ApiError(
    'ResourceNotFound',
    'The invitation is not valid: it was used, withdrawn or replaced, or it is older than seven days. Ask for another one.',
  )
}
