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
import { deleteExpiredChallenges } from './passkey-store.js'
import { toPasskey } from './passkeys.js'
import { createProvider, type ProviderDeps, ProviderError } from './provider.js'
import type { Progress } from './second-factor.js'
import { deleteExpiredTickets } from './second-factor-store.js'
import { createSignInService, type SignInService } from './service.js'
import { deleteExpiredAttempts } from './single-sign-on-store.js'
import { deleteExpiredResets } from './store.js'

export { createOperatorAccounts, type OperatorAccounts } from './operator.js'
export { listPasskeyHosts } from './passkey-store.js'
export { relyingPartyAt } from './webauthn.js'

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
  const { singleSignOn: config } = deps
  const provider = config && createProvider({ ...deps, config })
  const service = createSignInService(parts, provider)
  return {
    name: 'sign-in',
    routes: [
      ...signInRoutes(service),
      ...singleSignOnRoutes(service),
      ...passkeyRoutes(service),
      ...securityRoutes(service),
    ],
    stop: async () => await provider?.close(),
    jobs: forgottenJobs(parts),
    sweeps: [
      (tx) => deleteExpiredResets(tx, isoTime(deps.clock.now())),
      (tx) => deleteExpiredTickets(tx, isoTime(deps.clock.now())),
      (tx) => deleteExpiredAttempts(tx, isoTime(deps.clock.now())),
      (tx) => deleteExpiredChallenges(tx, isoTime(deps.clock.now())),
    ],
  }
}

/** Reads the documents of a provider. @returns what is wrong with it; undefined for nothing */
export async function checkProvider(deps: ProviderDeps): Promise<string | undefined> {
  const provider = createProvider(deps)
  try {
    await provider.check()
    return undefined
  } catch (error) {
    if (error instanceof ProviderError) return [error.message, error.detail].join(' ').trim()
    throw error
  } finally {
    await provider.close()
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

function singleSignOnRoutes(service: SignInService): Route[] {
  return [
    route(contract.signIn.startSingleSignOn, async (call) => {
      const { url, secret } = await service.startSingleSignOn(call.body, call.browser)
      call.keepSignOn(secret)
      return { url }
    }),

    route(contract.signIn.finishSingleSignOn, async (call) => {
      const { progress, returnTo } = await service.finishSingleSignOn(call.body, call.browser)
      return { ...(progress !== undefined && answer(progress, call)), returnTo }
    }),

    route(contract.accountSecurity.connectSingleSignOn, async (call) => {
      const { url, secret } = await service.connectSingleSignOn(call.actor, call.body, call.browser)
      call.keepSignOn(secret)
      return { url }
    }),

    route(contract.accountSecurity.disconnectSingleSignOn, async ({ actor, body, browser }) => {
      await service.disconnectSingleSignOn(actor, body, browser)
      return {}
    }),
  ]
}

function passkeyRoutes(service: SignInService): Route[] {
  return [
    route(contract.passkeys.startSignIn, async (call) => {
      const { options, secret } = await service.startPasskeySignIn(call.browser)
      call.keepSignOn(secret)
      return { options }
    }),

    route(contract.passkeys.signIn, async (call) =>
      welcome(await service.signInWithPasskey(call.body, call.browser), call),
    ),

    route(contract.passkeys.list, async ({ actor }) => ({
      passkeys: (await service.listPasskeys(actor)).map(toPasskey),
    })),

    route(contract.passkeys.start, async (call) => {
      const { options, secret } = await service.startPasskey(call.actor, call.body, call.browser)
      call.keepSignOn(secret)
      return { options }
    }),

    route(contract.passkeys.finish, async ({ actor, body, browser }) => ({
      passkey: toPasskey(await service.finishPasskey(actor, body, browser)),
    })),

    route(contract.passkeys.update, async ({ actor, params, body }) => ({
      passkey: toPasskey(await service.updatePasskey(actor, params, body)),
    })),

    route(contract.passkeys.remove, async ({ actor, params, body, browser }) => {
      await service.removePasskey(actor, params, body, browser)
      return {}
    }),
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
