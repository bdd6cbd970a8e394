import { isDeepStrictEqual } from 'node:util'
import type { WorkspaceActor } from '../../../domain/actor.js'
import type { Rights } from '../../../domain/rights.js'
import type { Standing } from '../../../domain/standing.js'
import type { Authorities } from '../../../platform/authorities.js'
import type { Timers } from '../../../platform/clock.js'
import type { Db } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { Feature } from '../../feature.js'
import type { AccountsService } from '../accounts/index.js'
import type { MembersService } from '../members/index.js'
import type { PasswordsService } from '../passwords/index.js'
import type { WorkspacesService } from '../workspaces/index.js'
import { allowlistRoutes } from './allowlists.js'
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
import { invitationRoutes } from './invitations.js'
import { limitsOf } from './limits.js'
import { createMemberships, type Memberships } from './memberships.js'
import { type BotDirectory, createReach, type Reach } from './reach.js'
import { accessRoutes } from './routes.js'
import { type AccessDeps, type AccessService, createAccessService } from './service.js'
import {
  createSessions,
  type SessionsDeps,
  type SessionsService,
  sessionRoutes,
  sessionSweeps,
} from './sessions.js'
import { deleteDeploymentKeys, findTokens, type TokenRow } from './store.js'
import { createTokenUsage } from './usage.js'

export type { DeploymentKeys } from './deployment-keys.js'
export type { Memberships } from './memberships.js'
export type { Reach } from './reach.js'
export type { MadeToken } from './service.js'
export { createOperatorTokens, type OperatorTokens } from './service.js'
export { endSessions, type SessionsService, toSession } from './sessions.js'

/** The slice of access tokens, as others see it. */
export interface Access extends Feature {
  service: AccessService
  authenticator: TokenAuthenticator
  memberships: Memberships
  /** Sessions of browsers. */
  sessions: SessionsService
  reach: Reach
  /** Keys of deployed code. */
  deploymentKeys: DeploymentKeys
  /** The authority of callers who were admitted, for what stays open. */
  standing: Standing
}

interface Deps
  extends Omit<AccessDeps, 'bots' | 'integrations' | 'members' | 'memberships'>,
    Pick<SessionsDeps, 'sessionLifetimeMs'> {
  timers: Timers
  log: Log
  authorities: Authorities
  deployments: { service: DeploymentKeysDeps['deployments'] }
  /** Whether no other process serves the database, so that all programs are those of this one. */
  alone: boolean
  accounts: { service: AccountsService }
  members: { service: MembersService }
  passwords: { service: PasswordsService }
  workspaces: { service: Pick<WorkspacesService, 'nameOf'> }
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
    members: deps.members.service,
    memberships: createMemberships({ db: deps.db, members: deps.members.service }),
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
    memberships: named.memberships,
    sessions,
    reach,
    deploymentKeys,
    standing: createStanding(named),
    routes: [
      ...accessRoutes(service, reach),
      ...allowlistRoutes(named),
      ...invitationRoutes({
        ...named,
        accounts: deps.accounts.service,
        workspaces: deps.workspaces.service,
        passwords: deps.passwords.service,
        sessions,
      }),
      ...sessionRoutes(sessions),
    ],
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
      'member.changed': async (tx, { workspaceId }) =>
        afterCommit(tx, () => authorities.change(`workspace:${workspaceId}`)),
      'member.removed': async (tx, { workspaceId, accountId }) => {
        await service.removeMember(tx, workspaceId, accountId)
        afterCommit(tx, () => authorities.change(`workspace:${workspaceId}`))
      },
      'bot.transferred': service.moveBot,
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

function createStanding({ db, memberships }: { db: Db; memberships: Memberships }): Standing {
  return {
    groundsOf: ({ tokenId, workspaceId }) => [`token:${tokenId}`, `workspace:${workspaceId}`],

    async untilOf(actors) {
      const tokens = await findTokens(db, [...new Set(actors.map(({ tokenId }) => tokenId))])
      const known = new Map(tokens.map((token) => [token.id, token]))
      const rights = new Map<string, Rights | undefined>()
      const until: number[] = []
      for (const actor of actors) {
        const token = known.get(actor.tokenId)
        const key = `${actor.tokenId} ${actor.workspaceId}`
        if (token !== undefined && !rights.has(key)) {
          const { accountId, workspaceId } = actor
          rights.set(key, await memberships.rightsIn(accountId, workspaceId, limitsOf(token)))
        }
        const isGood = token !== undefined && stillHas(actor, rights.get(key))
        until.push(isGood ? endOf(token) : 0)
      }
      return until
    },
  }
}

function endOf({ expires_at: at }: TokenRow): number {
  return at === null ? Number.POSITIVE_INFINITY : Date.parse(at)
}

/** Whether a caller may still do what they were admitted for, and see the same bots; an open stream shows those of before. */
function stillHas(
  { permission, rights: { bots } }: WorkspaceActor,
  now: Rights | undefined,
): boolean {
  return now?.permissions.has(permission) === true && isDeepStrictEqual(now.bots, bots)
}
