import { isoTime } from '../../../platform/clock.js'
import type { Feature } from '../../feature.js'
import type { AccountsService } from '../accounts/index.js'
import { createPasswordsService, type PasswordsDeps, type PasswordsService } from './service.js'
import { deleteOldAttempts } from './store.js'
import { attemptLifetime } from './throttle.js'

export type { PasswordCost } from './hashing.js'
export type { PasswordsService } from './service.js'
export { type Counted, countAttempt, forgiveAttempt } from './throttle.js'

interface Deps extends Omit<PasswordsDeps, 'accounts'> {
  accounts: { service: AccountsService }
}

const rowsAtOnce = 500

/** The passwords of accounts, and the pauses between attempts to guess them. */
export function createPasswords(deps: Deps): Feature & { service: PasswordsService } {
  return {
    name: 'passwords',
    service: createPasswordsService({ ...deps, accounts: deps.accounts.service }),
    sweeps: [
      (tx) => deleteOldAttempts(tx, isoTime(deps.clock.now() - attemptLifetime), rowsAtOnce),
    ],
  }
}
