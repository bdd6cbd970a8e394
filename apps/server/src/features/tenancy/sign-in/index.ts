import { contract } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import { isoTime } from '../../../platform/clock.js'
import type { Feature } from '../../feature.js'
import { type Access, toSession } from '../access/index.js'
import type { AccountsService } from '../accounts/index.js'
import type { MailService } from '../mail/index.js'
import type { MembersService } from '../members/index.js'
import type { PasswordsService } from '../passwords/index.js'
import type { SignedIn, SignInDeps } from './deps.js'
import { forgottenJobs } from './forgotten.js'
import { deleteExpiredTickets } from './second-factor-store.js'
import { createSignInService, type Progress, type SignInService } from './service.js'
import { deleteExpiredResets } from './store.js'

export { createOperatorAccounts, type OperatorAccounts } from './operator.js'

interface Deps
  extends Omit<SignInDeps, 'accounts' | 'mail' | 'members' | 'passwords' | 'sessions'> {
  accounts: { service: AccountsService }
  mail: { service: MailService }
  members: { service: MembersService }
  passwords: { service: PasswordsService }
  access: Pick<Access, 'sessions'>
}

/** Sign-in of people, and the ways in which an account signs in. */
export function createSignIn(deps: Deps): Feature {
  const parts: SignInDeps = {
    ...deps,
    accounts: deps.accounts.service,
    mail: deps.mail.service,
    members: deps.members.service,
    passwords: deps.passwords.service,
    sessions: deps.access.sessions,
  }
  const service = createSignInService(parts)
  return {
    name: 'sign-in',
    routes: [...signInRoutes(service), ...securityRoutes(service)],
    jobs: forgottenJobs(parts),
    sweeps: [
      (tx) => deleteExpiredResets(tx, isoTime(deps.clock.now())),
      (tx) => deleteExpiredTickets(tx, isoTime(deps.clock.now())),
    ],
  }
}

interface SigningCall {
  beginSession(value: string, expiresAt: string): void
  keepDevice(value: string): void
}

/** Hands the browser its session, or the ticket of the second step. */
function answer(progress: Progress, call: SigningCall) {
  if ('done' in progress) return welcome(progress.done, call)
  const { value, expiresAt } = progress.waiting
  return { secondFactor: { ticket: value, expiresAt } }
}

/** Hands the browser its session. */
function welcome({ session: { token, value }, device }: SignedIn, call: SigningCall) {
  call.beginSession(value, token.expires_at ?? '')
  call.keepDevice(device)
  return { session: toSession(token, token.id) }
}

function signInRoutes(service: SignInService): Route[] {
  return [
    route(contract.signIn.withPassword, async (call) =>
      answer(await service.withPassword(call.body, call.browser), call),
    ),

    route(contract.signIn.withSecondFactor, async (call) =>
      welcome(await service.withSecondFactor(call.body, call.browser), call),
    ),

    route(contract.signIn.getWays, async () => service.getWays()),

    route(contract.signIn.requestReset, async ({ body, browser }) => {
      await service.requestReset(body.email, browser)
      return {}
    }),

    route(contract.signIn.getReset, async ({ body }) => {
      const { account, expiresAt } = await service.getReset(body.code)
      return { email: account.email, expiresAt }
    }),

    route(contract.signIn.reset, async (call) =>
      answer(await service.reset(call.body, call.browser), call),
    ),
  ]
}

function securityRoutes(service: SignInService): Route[] {
  return [
    route(contract.accountSecurity.get, async ({ actor }) => await service.getSecurity(actor)),

    route(contract.accountSecurity.changePassword, async (call) => {
      call.keepDevice(await service.changePassword(call.actor, call.body, call.browser))
      return {}
    }),

    route(contract.accountSecurity.changeEmail, async ({ actor, body, browser }) => {
      await service.changeEmail(actor, body, browser)
      return {}
    }),

    route(contract.accountSecurity.removeAccount, async ({ actor, body, browser }) => {
      await service.removeAccount(actor, body, browser)
      return {}
    }),

    route(
      contract.accountSecurity.startSecondFactor,
      async ({ actor, body, browser }) => await service.startSecondFactor(actor, body, browser),
    ),

    route(contract.accountSecurity.confirmSecondFactor, async ({ actor, body, browser }) => ({
      recoveryCodes: await service.confirmSecondFactor(actor, body.code, browser),
    })),

    route(contract.accountSecurity.renewRecoveryCodes, async ({ actor, body, browser }) => ({
      recoveryCodes: await service.renewRecoveryCodes(actor, body, browser),
    })),

    route(contract.accountSecurity.removeSecondFactor, async ({ actor, body, browser }) => {
      await service.removeSecondFactor(actor, body, browser)
      return {}
    }),
  ]
}
