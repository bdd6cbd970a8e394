import type { Route } from '../../../http/mount.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Log } from '../../../platform/telemetry/log.js'
import type { Makers } from '../../calls/makers/index.js'
import type { Target } from '../../calls/targets/index.js'
import {
  builtInChat,
  type Catalogue,
  type DeclaredAction,
  findInstallation,
} from '../bots/index.js'
import { createCatalogue } from './catalogue.js'
import { createConfigure } from './configure.js'
import { createKnownIntegrations } from './known.js'
import * as logStore from './log-store.js'
import { createIntegrationLogs } from './logs.js'
import { createMakers } from './makers.js'
import { createRegistration, type RegistrationDeps } from './registration.js'
import { integrationsRoutes } from './routes.js'
import {
  createIntegrationsService,
  type IntegrationsService,
  type IntegrationsServiceDeps,
} from './service.js'
import { targetOf } from './target.js'
import { createWebhooks } from './webhooks.js'

export interface Integrations {
  service: IntegrationsService
  routes: Route[]
  jobs: Record<string, JobHandler<never>>
  /** What bots can install. */
  catalogue: Catalogue
  /** Requests from outside. */
  webhooks: ReturnType<typeof createWebhooks>
  /** How an installation is called; undefined if it is switched off, or has no server. */
  findTarget(receiver: { botId: string; integration: string }): Promise<Target | undefined>
  /** Has integrations make users and conversations. */
  makers: Makers
  /** What an integration declares of an action; undefined if it does not. */
  findAction(integrationId: string, name: string): Promise<DeclaredAction | undefined>
  /** Removes some of what has served its time; answers how much. */
  sweep(tx: Tx): Promise<number>
}

/** What connects bots to other services. */
export function createIntegrations(
  deps: Omit<RegistrationDeps, 'known' | 'logs'> & IntegrationsServiceDeps & { log: Log },
): Integrations {
  const { db, run, sealer } = deps
  const known = createKnownIntegrations(deps)
  const logs = createIntegrationLogs(deps)
  const registration = createRegistration({ ...deps, known, logs })
  const service = createIntegrationsService({
    ...deps,
    onChanged: (id, installedIn) => {
      known.forget(id)
      deps.onChanged(id, installedIn)
    },
    onRemoved: async (tx, id) => {
      await logStore.deleteSomeLogs(tx, { integrationId: id }, 1_000_000)
      await deps.onRemoved(tx, id)
    },
  })
  async function findTarget({ botId, integration: alias }: { botId: string; integration: string }) {
    const row = await findInstallation(db, botId, alias)
    if (row === undefined || row.enabled !== 1 || row.integration_id === builtInChat.id) {
      return undefined
    }
    const configuration = decodeJson<Record<string, unknown>>(sealer.open(row.configuration))
    return targetOf(await known.of(row.integration_id), { ...row, configuration })
  }

  return {
    service,
    routes: integrationsRoutes({ service, logs, ...createConfigure({ run, ...registration }) }),
    jobs: registration.jobs,
    catalogue: createCatalogue(service, known, registration),
    webhooks: createWebhooks({ ...deps, known, logs }),
    makers: createMakers({ ...deps, findTarget }),
    findTarget,

    async findAction(integrationId, name) {
      const actions = (await known.of(integrationId))?.definition.actions ?? {}
      return Object.hasOwn(actions, name) ? actions[name] : undefined
    },

    sweep: logs.sweep,
  }
}
