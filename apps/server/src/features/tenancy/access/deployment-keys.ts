import { createHmac } from 'node:crypto'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Run, Tx } from '../../../platform/db/schema.js'
import type { Ids } from '../../../platform/ids.js'
import { makeToken } from './service.js'
import * as store from './store.js'

/** A deployment of the code of a bot or an integration. */
interface KeyedDeployment {
  id: string
  workspaceId: string
  owner: { type: 'bot' | 'integration'; id: string }
}

export interface DeploymentKeysDeps {
  run: Run
  clock: Clock
  ids: Ids
  /** The keys are derived from it, so that any process of this server can start the code. */
  deploymentSecret: Uint8Array
}

/** Milliseconds for which the key of code is valid that was started but is not in force yet. */
const provisionalLifetime = 60 * 60 * 1000
/** Milliseconds for which the key of a replaced deployment stays valid, so that its open requests can end. */
const afterReplacement = 20 * 60 * 1000

/** Keys with which deployed code calls this server: one for each deployment, ended by the next. */
export interface DeploymentKeys {
  /**
   * Returns the key of a deployment, and stores it if that was not done before. Unless the deployment is in
   * force, the key is valid for an hour.
   */
  ensure(deployment: KeyedDeployment, options: { isInForce: boolean }): Promise<string>
  /** Deletes the key of a deployment that does not come into force. */
  remove(deploymentId: string): Promise<void>
  /** Ends the keys of replaced deployments after a while, and makes the new one lasting. */
  replace(tx: Tx, deploymentId: string, replaced: readonly string[]): Promise<void>
}

export function createDeploymentKeys({
  run,
  clock,
  ids,
  deploymentSecret,
}: DeploymentKeysDeps): DeploymentKeys {
  const keyValue = (prefix: string, deploymentId: string) =>
    prefix + createHmac('sha256', deploymentSecret).update(deploymentId).digest('base64url')

  return {
    async ensure({ id, workspaceId, owner }, { isInForce }) {
      const { token, value } =
        owner.type === 'bot'
          ? makeToken(
              { kind: 'bot', workspaceId, botId: owner.id },
              'deployment',
              { ids, clock },
              keyValue('bp_bak_', id),
            )
          : makeToken(
              { kind: 'integration', workspaceId, integrationId: owner.id },
              'deployment',
              { ids, clock },
              keyValue('bp_iak_', id),
            )
      const expires_at = isInForce ? null : isoTime(clock.now() + provisionalLifetime)
      await run((tx) => store.insertToken(tx, { ...token, deployment_id: id, expires_at }))
      return value
    },

    async remove(deploymentId) {
      await run((tx) => store.deleteDeploymentKey(tx, deploymentId), { mayUseReserve: true })
    },

    async replace(tx, deploymentId, replaced) {
      await store.setExpiry(tx, [deploymentId], null)
      await store.setExpiry(tx, replaced, isoTime(clock.now() + afterReplacement))
    },
  }
}
