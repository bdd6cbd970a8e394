import type { WorkspaceActor } from '../../../domain/actor.js'
import type { Authorities, Ground } from '../../../platform/authorities.js'
import type { Timers } from '../../../platform/clock.js'
import type { Db } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { Feature } from '../../feature.js'
import { findRole } from '../members/index.js'
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
import { deleteDeploymentKeys, findTokens } from './store.js'
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
  /** The authority of callers who were admitted, for what stays open. */
  standing: Standing
}

/** The authority of callers who were admitted, for what stays open. */
export interface Standing {
  /** The grounds of the authority of a caller. */
  groundsOf(actor: WorkspaceActor): Ground[]
  /**
   * Until when each caller may read its workspace, as far as is known now: milliseconds of the clock, 0 for a caller that
   * may no longer.
   */
  untilOf(actors: readonly WorkspaceActor[]): Promise<number[]>
}

interface Deps
  extends Omit<AccessDeps, 'bots' | 'integrations'>,
    Pick<SessionsDeps, 'sessionLifetimeMs'> {
  timers: Timers
  log: Log
  authorities: Authorities
  deployments: { service: DeploymentKeysDeps['deployments'] }
  /** Whether no other process serves the database, so that all programs are those of this one. */
  alone: boolean
  bots: { service: BotDirectory }
  integrations: { service: AccessDeps['integrations']; known: IntegrationOwners }
  /** Id of the integration that is part of the server. */
  builtInId: string
}

/** Access tokens: their holders, and what they may access. */
export function createAccess(deps: Deps): Access {
  const usage = createTokenUsage(deps)
  const named = {
    ...deps,
    usage,
    bots: deps.bots.service,
    integrations: deps.integrations.service,
  }
  const { run, authorities } = deps
  const authenticator = createTokenAuthenticator({
    ...named,
    integrations: deps.integrations.known,
  })
  authorities.onChange(authenticator.forget)
  const service = createAccessService(named)
  const reach = createReach(named)
  const sessions = createSessions({ ...deps, authenticator })
  const deploymentKeys = createDeploymentKeys({ ...named, deployments: deps.deployments.service })
  return {
    name: 'access',
    service,
    authenticator,
    reach,
    deploymentKeys,
    standing: createStanding(named),
    routes: [...accessRoutes(service, reach), ...sessionRoutes(sessions)],
    sweeps: sessionSweeps(deps),
    on: {
      'integration.removed': (tx, { integrationId }) =>
        service.removeKeysOfIntegration(tx, integrationId),
      'deployment.created': async (tx, { deployment, replaced }) => {
        await deploymentKeys.keep(tx, deployment.id)
        await deploymentKeys.limit(tx, replaced)
      },
      'deployment.suspended': (tx, { deploymentId }) => deploymentKeys.limit(tx, [deploymentId]),
      'workspace.removed': async (tx, { workspaceId }) => {
        await service.removeWorkspaceKeys(tx, workspaceId)
        afterCommit(tx, () => authorities.change(`workspace:${workspaceId}`))
      },
      'bot.changed': async (tx, { botId }) =>
        afterCommit(tx, () => authorities.change(`bot:${botId}`)),
    },
    purge: service.purge,
    async open() {
      // No program runs yet: these are the keys of a server that was killed.
      if (deps.alone) await run(deleteDeploymentKeys, { mayUseReserve: true })
    },
    // Before the database is closed: stores the pending last uses of tokens.
    async stop() {
      deploymentKeys.stop()
      await usage[Symbol.asyncDispose]()
    },
  }
}

function createStanding({ db }: { db: Db }): Standing {
  return {
    groundsOf: ({ tokenId, workspaceId }) => [`token:${tokenId}`, `workspace:${workspaceId}`],

    async untilOf(actors) {
      const tokens = await findTokens(db, [...new Set(actors.map(({ tokenId }) => tokenId))])
      const ends = new Map(
        tokens.map(({ id, expires_at: at }) => [
          id,
          at === null ? Number.POSITIVE_INFINITY : Date.parse(at),
        ]),
      )
      const memberships = new Map<string, boolean>()
      const until: number[] = []
      for (const { tokenId, accountId, workspaceId } of actors) {
        const key = `${accountId} ${workspaceId}`
        const isMember =
          memberships.get(key) ?? (await findRole(db, accountId, workspaceId)) !== undefined
        memberships.set(key, isMember)
        until.push(isMember ? (ends.get(tokenId) ?? 0) : 0)
      }
      return until
    },
  }
}
