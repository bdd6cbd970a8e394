import { contract } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import type { Hub } from './hub.js'
import type { IntegrationLogs } from './logs.js'
import type { IntegrationRecord, IntegrationsService } from './service.js'
import { toIntegration, toLog, toSummary } from './view.js'

interface IntegrationsRoutesDeps {
  service: IntegrationsService
  logs: Pick<IntegrationLogs, 'page'>
  hub: Hub
}

export function integrationsRoutes({ service, logs, hub }: IntegrationsRoutesDeps): Route[] {
  const show = async (found: Promise<IntegrationRecord>) => {
    const { integration, signingSecret } = await found
    return toIntegration(integration, signingSecret)
  }

  return [
    route(contract.integrations.list, async ({ actor, query }) => {
      const page = await service.list(actor, query)
      return { integrations: page.rows.map(toSummary), meta: toPageMeta(page) }
    }),

    route(contract.integrations.create, async ({ actor, body, once }) =>
      once<IntegrationRecord>(
        (remember) => service.create(actor, body, remember),
        (made) => ({ integration: toIntegration(made.integration, made.signingSecret) }),
      ),
    ),

    route(contract.integrations.validateCreation, async ({ actor, body }) => {
      await service.validateCreation(actor, body)
      return {}
    }),

    route(contract.integrations.requestVerification, async ({ actor, body }) => {
      await service.requireIn(actor, body.integrationId, 'body.integrationId')
      return {}
    }),

    route(contract.integrations.get, async ({ actor, params }) => ({
      integration: await show(service.get(actor, params.id)),
    })),

    route(contract.integrations.getByName, async ({ actor, params }) => ({
      integration: await show(service.getByName(actor, params.name, params.version)),
    })),

    route(contract.integrations.update, async ({ actor, params, body }) => ({
      integration: await show(service.update(actor, params.id, body)),
    })),

    route(contract.integrations.validateUpdate, async ({ actor, params, body }) => {
      await service.validateUpdate(actor, params.id, body)
      return {}
    }),

    route(contract.integrations.remove, async ({ actor, params }) => {
      await service.remove(actor, params.id)
      return {}
    }),

    route(contract.integrations.rotateSigningSecret, async ({ actor, params }) => ({
      newSigningSecret: await service.rotateSigningSecret(actor, params.id),
    })),

    route(contract.integrations.getLogs, async ({ actor, params, query }) => {
      await service.get(actor, params.id)
      const { rows, nextToken } = await logs.page(actor, params.id, query)
      return { logs: rows.map(toLog), ...(nextToken !== undefined && { nextToken }) }
    }),

    route(contract.hub.listIntegrations, async ({ actor, query }) => {
      const { integrations, nextToken } = await hub.list(actor, query)
      return { integrations, meta: toPageMeta({ nextToken }) }
    }),

    route(contract.hub.getIntegration, async ({ params }) => ({
      integration: await hub.get(params.id),
    })),

    route(contract.hub.getIntegrationByName, async ({ params }) => ({
      integration: await hub.getByName(params.name, params.version),
    })),
  ]
}
