import type { WorkspaceActor } from '../../../domain/actor.js'
import { type Clock, isoTime, type Timers } from '../../../platform/clock.js'
import type { Db } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { Feature } from '../../feature.js'
import type { WorkspacesService } from '../workspaces/index.js'
import {
  createTokenAuthenticator,
  type IntegrationOwners,
  type TokenAuthenticator,
} from './authenticator.js'
import {
  createDeploymentKeys,
  type DeploymentKeys,
  type DeploymentKeysDeps,
} from './deployment-keys.js'
import { type BotDirectory, createReach, type Reach } from './reach.js'
import { accessRoutes } from './routes.js'
import { type AccessDeps, type AccessService, createAccessService } from './service.js'
import { createSessions, type SessionsDeps, sessionRoutes, sessionSweeps } from './sessions.js'
import { findToken } from './store.js'
import { createTokenUsage } from './usage.js'

export type { DeploymentKeys } from './deployment-keys.js'
export type { Reach } from './reach.js'
export { createOperatorTokens, type OperatorTokens } from './service.js'

/** The slice of access tokens, as others see it. */
export interface Access extends Feature {
  service: AccessService
  authenticator: TokenAuthenticator
  reach: Reach
  /** Keys of deployed code. */
  deploymentKeys: DeploymentKeys
  /** Whether a caller who was admitted may still read the workspace. */
  isAuthorized: ReturnType<typeof createIsAuthorized>
}

interface Deps
  extends Omit<AccessDeps, 'bots' | 'integrations' | 'forgetToken'>,
    Pick<SessionsDeps, 'sessionLifetimeMs'>,
    Pick<DeploymentKeysDeps, 'deploymentSecret'> {
  timers: Timers
  log: Log
  workspaces: { service: Pick<WorkspacesService, 'roleOf'> }
  bots: { service: BotDirectory }
  integrations: { service: AccessDeps['integrations']; known: IntegrationOwners }
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
  const authenticator = createTokenAuthenticator({
    ...named,
    integrations: deps.integrations.known,
  })
  const service = createAccessService({ ...named, forgetToken: authenticator.forgetToken })
  const reach = createReach(named)
  const sessions = createSessions(deps, authenticator)
  const deploymentKeys = createDeploymentKeys(deps)
  return {
    name: 'access',
    service,
    authenticator,
    reach,
    deploymentKeys,
    isAuthorized: createIsAuthorized(named),
    routes: [...accessRoutes(service, reach), ...sessionRoutes(sessions)],
    sweeps: sessionSweeps(deps),
    on: {
      'integration.removed': (tx, { integrationId }) =>
        service.removeKeysOfIntegration(tx, integrationId),
      'deployment.created': (tx, { deployment, replaced }) =>
        deploymentKeys.replace(tx, deployment.id, replaced),
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

/** Whether a caller who was admitted still has the token and the membership: for what lasts long. */
function createIsAuthorized({
  db,
  clock,
  workspaces,
}: {
  db: Db
  clock: Clock
  workspaces: Pick<WorkspacesService, 'roleOf'>
}) {
  return async ({ tokenId, accountId, workspaceId }: WorkspaceActor): Promise<boolean> => {
    const token = await findToken(db, tokenId)
    if (token === undefined) return false
    if (token.expires_at !== null && token.expires_at <= isoTime(clock.now())) return false
    return (await workspaces.roleOf(accountId, workspaceId)) !== undefined
  }
}
