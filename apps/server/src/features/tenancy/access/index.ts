import type { Route } from '../../../http/mount.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { Timers } from '../../../platform/timers.js'
import {
  type AuthenticatorDeps,
  createTokenAuthenticator,
  type TokenAuthenticator,
} from './authenticator.js'
import { createReach, type Reach } from './reach.js'
import { accessRoutes } from './routes.js'
import { type AccessDeps, type AccessService, createAccessService } from './service.js'
import { createTokenUsage } from './usage.js'

export { createOperatorTokens, type OperatorTokens } from './operator.js'
export type { Reach } from './reach.js'

export interface Access {
  service: AccessService
  routes: Route[]
  authenticator: TokenAuthenticator
  reach: Reach
  /** Stores what is not stored yet of the last uses of tokens; before the database is closed. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Who holds which token, and what it opens. */
export function createAccess(
  deps: Omit<AccessDeps, 'onRevoked'> &
    Omit<AuthenticatorDeps, 'usage'> & { timers: Timers; log: Log },
): Access {
  const usage = createTokenUsage(deps)
  const authenticator = createTokenAuthenticator({ ...deps, usage })
  const service = createAccessService({ ...deps, onRevoked: authenticator.forgetToken })
  const reach = createReach(deps)
  return {
    service,
    routes: accessRoutes(service, reach),
    authenticator,
    reach,
    [Symbol.asyncDispose]: () => usage[Symbol.asyncDispose](),
  }
}
