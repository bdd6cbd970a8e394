import type { Feature } from '../../feature.js'
import {
  createDeploymentsService,
  type DeploymentsDeps,
  type DeploymentsService,
} from './service.js'
import { deleteOfOwner, deleteOfWorkspace, listBundlesOf, moveDeployments } from './store.js'

export type {
  CodeOwner,
  Deployment,
  DeploymentsService,
  HostedCode,
  PreparedDeployment,
  Trial,
} from './service.js'
export { orAbandon, toHostedCode } from './service.js'

/** The slice of deployments, as others see it. */
export interface Deployments extends Feature {
  service: DeploymentsService
}

/** Code of bots and integrations that runs at this server. */
export function createDeployments(deps: DeploymentsDeps): Deployments {
  const service = createDeploymentsService(deps)
  return {
    name: 'deployments',
    service,
    sweeps: service.sweeps,
    on: {
      'bot.transferring': async (tx, { botId, bundles }) => {
        for (const hash of await listBundlesOf(tx, botId)) bundles.add(hash)
      },
      'bot.transferred': (tx, { botId, to }) => moveDeployments(tx, botId, to),
      'integration.removed': (tx, { integrationId }) => deleteOfOwner(tx, integrationId),
      'workspace.removed': (tx, { workspaceId }) => deleteOfWorkspace(tx, workspaceId),
    },
    async purge(botId) {
      await deps.run((tx) => deleteOfOwner(tx, botId), { mayUseReserve: true })
    },
  }
}
