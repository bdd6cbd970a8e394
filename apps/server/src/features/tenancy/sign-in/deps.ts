import type { ProviderConfig } from '../../../config/single-sign-on-settings.js'
import type { Addresses } from '../../../domain/addresses.js'
import type { Browser } from '../../../domain/browser.js'
import type { Clock } from '../../../platform/clock.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import { newToken } from '../../../platform/ids.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Outgoing } from '../../../platform/outgoing/outgoing.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import type { MadeToken, SessionsService } from '../access/index.js'
import type { AccountsService } from '../accounts/index.js'
import type { Act, AuditDeps } from '../audit/index.js'
import type { MailService } from '../mail/index.js'
import type { MembersService } from '../members/index.js'
import type { PasswordsService } from '../passwords/index.js'

/** The parts that sign-in is built from. */
export interface SignInDeps extends AuditDeps {
  db: Db
  run: Run
  clock: Clock
  dialect: Dialect
  /** Seals the secrets of authenticator apps. */
  sealer: Sealer
  addresses: Pick<Addresses, 'base'>
  queue: Queue
  domainEvents: EventDispatcher
  accounts: Pick<
    AccountsService,
    | 'get'
    | 'create'
    | 'findIn'
    | 'findMany'
    | 'findFirst'
    | 'findByEmail'
    | 'changeEmail'
    | 'proveEmail'
    | 'isOperator'
    | 'remove'
  >
  mail: MailService
  members: Pick<MembersService, 'leaveAll' | 'addNewcomer' | 'findInvitation' | 'accept'>
  /** The provider with whose accounts people may sign in; undefined for none. */
  singleSignOn: ProviderConfig | undefined
  outgoing: Pick<Outgoing, 'send'>
  passwords: PasswordsService
  sessions: Pick<SessionsService, 'begin' | 'find' | 'endAll' | 'endAccount' | 'revokePersonal'>
}

/** Details of a session that begins. */
export interface SessionDetails {
  note?: string | undefined
  /** The act that the audit log has with it, if it is not the sign-in alone. */
  act?: Act
}

/** A browser that was signed in. */
export interface SignedIn {
  session: MadeToken
  /** Secret by which the browser is known at its next sign-in. */
  device: string
}

/** The secret by which a browser is known that finishes what it began; the same in all of its tabs, so that each can finish. */
export function browserSecret({ signOn }: Pick<Browser, 'signOn'>): string {
  return signOn?.startsWith('bp_sso_') ? signOn : newToken('bp_sso_')
}
