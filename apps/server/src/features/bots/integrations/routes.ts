import { ApiError, contract } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import { hub } from './hub.js'
import type { IntegrationLogs } from './logs.js'
import type { IntegrationRecord, IntegrationsService } from './service.js'
import { toIntegration, toLog, toSummary } from './view.js'

interface IntegrationsRoutesDeps {
  service: IntegrationsService
  logs: Pick<IntegrationLogs, 'page'>
}

export function integrationsRoutes({ service, logs }: IntegrationsRoutesDeps): Route[] {
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

    route(contract.hub.listIntegrations, async ({ query }) => ({
      integrations: hub.list(query),
      meta: {},
    })),

    route(contract.hub.getIntegration, async ({ params }) => ({ integration: hub.get(params.id) })),

    route(contract.hub.getIntegrationByName, async ({ params }) => ({
      integration: hub.getByName(params.name, params.version),
    })),

    ...packageRoutes(),
  ]
}

/** Interfaces and plugins: empty lists, because existing tools request them. */
function packageRoutes(): Route[] {
  const { interfaces, publicInterfaces, plugins, publicPlugins } = contract.packageLists
  return [
    route(interfaces, async () => ({ interfaces: [], meta: {} })),
    route(publicInterfaces, async () => ({ interfaces: [], meta: {} })),
    route(plugins, async () => ({ plugins: [], meta: {} })),
    route(publicPlugins, async () => ({ plugins: [], meta: {} })),
    ...Object.values(contract.packageLookups).map((lookup) =>
      route(lookup, async () => {
        throw new ApiError(
          'ResourceNotFound',
          'There is no such thing: this server keeps no interfaces and no plugins.',
        )
      }),
    ),
  ]
}
