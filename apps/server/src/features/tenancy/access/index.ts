import type { Timers } from '../../../platform/clock.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { Feature } from '../../feature.js'
import type { WorkspacesService } from '../workspaces/index.js'
import { createTokenAuthenticator, type TokenAuthenticator } from './authenticator.js'
import { type BotDirectory, createReach, type Reach } from './reach.js'
import { accessRoutes } from './routes.js'
import { type AccessDeps, type AccessService, createAccessService } from './service.js'
import { createTokenUsage } from './usage.js'

export type { Reach } from './reach.js'
export { createOperatorTokens, type OperatorTokens } from './service.js'

/** The slice of access tokens, as others see it. */
export interface Access extends Feature {
  service: AccessService
  authenticator: TokenAuthenticator
  reach: Reach
}

interface Deps extends Omit<AccessDeps, 'bots' | 'integrations' | 'forgetToken'> {
  timers: Timers
  log: Log
  workspaces: { service: Pick<WorkspacesService, 'roleOf'> }
  bots: { service: BotDirectory }
  integrations: { service: AccessDeps['integrations'] }
}

/** Access tokens: their holders, and what they may access. */
export function createAccess(deps: Deps): Access {
  const usage = createTokenUsage(deps)
  const named = {
    ...deps,
    usage,
    workspaces: deps.workspaces.service,
    bots: deps.bots.service,
    integrations: deps.integrations.service,
  }
  const authenticator = createTokenAuthenticator(named)
  const service = createAccessService({ ...named, forgetToken: authenticator.forgetToken })
  const reach = createReach(named)
  return {
    name: 'access',
    service,
    authenticator,
    reach,
    routes: accessRoutes(service, reach),
    on: {
      'integration.removed': (tx, { integrationId }) =>
        service.removeKeysOfIntegration(tx, integrationId),
      'workspace.removed': async (tx, { workspaceId }) => {
        await service.removeWorkspaceKeys(tx, workspaceId)
        afterCommit(tx, () => authenticator.forgetWorkspace(workspaceId))
      },
      'bot.changed': async (tx, { botId }) => afterCommit(tx, () => authenticator.forgetBot(botId)),
    },
    purge: service.purge,
    // Before the database is closed: stores the pending last uses of tokens.
    stop: () => usage[Symbol.asyncDispose](),
  }
}
