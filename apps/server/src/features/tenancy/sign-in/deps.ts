import type { Addresses } from '../../../domain/addresses.js'
import type { Clock } from '../../../platform/clock.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Sealer } from '../../../platform/security/sealing.js'
import type { MadeToken, SessionsService } from '../access/index.js'
import type { AccountsService } from '../accounts/index.js'
import type { AuditDeps } from '../audit/index.js'
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
    | 'findIn'
    | 'findMany'
    | 'findByEmail'
    | 'changeEmail'
    | 'proveEmail'
    | 'isOperator'
    | 'remove'
  >
  mail: MailService
  members: Pick<MembersService, 'leaveAll'>
  passwords: PasswordsService
  sessions: Pick<SessionsService, 'begin' | 'endAll' | 'endAccount' | 'revokePersonal'>
}

/** A browser that was signed in. */
export interface SignedIn {
  session: MadeToken
  /** Secret by which the browser is known at its next sign-in. */
  device: string
}
