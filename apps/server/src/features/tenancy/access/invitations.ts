import { ApiError, type Body, contract } from '@botstead/contract'
import type { Browser } from '../../../domain/browser.js'
import { type Route, route } from '../../../http/mount.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { AccountsService } from '../accounts/index.js'
import { type AuditDeps, recordAct } from '../audit/index.js'
import type { MembersService } from '../members/index.js'
import type { PasswordsService } from '../passwords/index.js'
import type { WorkspacesService } from '../workspaces/index.js'
import type { MadeToken } from './service.js'
import type { SessionsService } from './sessions.js'

interface InvitationsDeps extends AuditDeps {
  db: Db
  run: Run
  members: Pick<MembersService, 'findInvitation' | 'accept'>
  workspaces: Pick<WorkspacesService, 'nameOf'>
  accounts: Pick<AccountsService, 'create'>
  passwords: Pick<PasswordsService, 'hash' | 'set' | 'rememberDevice'>
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
        const { id, email, role, workspace_id: workspaceId } = invitation
        recordAct(deps, tx, actor, {
          workspaceId,
          resourceId: id,
          resourceName: email,
          changes: { role: { to: role } },
        })
        return { workspaceId }
      }),
    ),

    route(contract.invitations.signUp, async (call) => {
      const { workspaceId, session, device } = await signUp(deps, call.body, call.browser)
      call.beginSession(session.value, session.token.expires_at ?? '')
      call.keepDevice(device)
      return { workspaceId }
    }),
  ]
}

/** Makes the account, its password, the membership and the session in one transaction. */
async function signUp(
  { run, members, accounts, passwords, sessions, ...deps }: InvitationsDeps,
  { code, displayName, password }: Body<typeof contract.invitations.signUp>,
  browser: Browser,
): Promise<{ workspaceId: string; session: MadeToken; device: string }> {
  const { email } = await requireInvitation({ ...deps, members }, deps.db, code)
  const hash = await passwords.hash(password, { email: email ?? '', displayName })
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
    await passwords.set(tx, accountId, hash)
    const { id, email, role } = invitation
    const act = { resourceId: id, resourceName: email, changes: { role: { to: role } } }
    const session = await sessions.begin(tx, accountId, browser, { act })
    const device = await passwords.rememberDevice(tx, accountId, browser.device)
    return { workspaceId: invitation.workspace_id, session, device }
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
