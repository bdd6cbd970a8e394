import { purge } from '../../../platform/db/purge.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { Feature } from '../../feature.js'
import { deleteSomeLines } from '../log-lines/index.js'
import { createHub } from './hub.js'
import { createKnownIntegrations, type KnownIntegrations } from './known.js'
import { createIntegrationLogs, type IntegrationLogs } from './logs.js'
import { integrationsRoutes } from './routes.js'
import {
  createIntegrationsService,
  type IntegrationsService,
  type IntegrationsServiceDeps,
  purgeIntegrationJob,
} from './service.js'

export type { Creation, IntegrationDefinition } from './definition.js'
export type { KnownIntegrations } from './known.js'
export type { IntegrationLogs } from './logs.js'
export type { NamedIntegration } from './lookups.js'
export type { IntegrationsService } from './service.js'

/** The slice of integrations, as others see it. */
export interface Integrations extends Feature {
  service: IntegrationsService
  /** Cached integrations, by id. */
  known: KnownIntegrations
  /** Logs of what happened between integrations and this server. */
  logs: IntegrationLogs
}

/** Integrations, which connect bots to other services: their definitions. */
export function createIntegrations(
  deps: Omit<IntegrationsServiceDeps, 'logs'> & { log: Log },
): Integrations {
  const known = createKnownIntegrations(deps)
  const logs = createIntegrationLogs(deps)
  const service = createIntegrationsService({ ...deps, logs })
  const purgeLogs: JobHandler<{ integrationId: string }> = {
    mayUseReserve: true,
    handler: async ({ payload: { integrationId } }) => {
      await purge(deps.run, (tx, limit) => deleteSomeLines(tx, { integrationId }, limit))
    },
  }
  return {
    name: 'integrations',
    service,
    known,
    logs,
    routes: integrationsRoutes({ service, logs, hub: createHub(deps) }),
    jobs: { [purgeIntegrationJob]: purgeLogs },
    sweeps: [logs.sweep],
    on: {
      'integration.changed': async (tx, { integrationId }) =>
        afterCommit(tx, () => known.forget(integrationId)),
    },
  }
}
