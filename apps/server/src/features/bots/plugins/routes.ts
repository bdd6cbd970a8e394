import { contract } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import { withPublisher, withPublishers } from '../definitions/index.js'
import type { PluginDefinition } from './definition.js'
import type { PluginsService } from './service.js'
import type { PluginRow } from './store.js'
import { toHubMeta, toPlugin, toSummary } from './view.js'

interface PluginsRoutesDeps {
  service: PluginsService
  /** Replaces references to entities in the schemas of a plugin. */
  dereference: (
    actor: WorkspaceActor,
    plugin: PluginRow,
    integrations: Readonly<Record<string, string>>,
  ) => Promise<PluginDefinition>
}

export function pluginsRoutes({ service, dereference }: PluginsRoutesDeps): Route[] {
  const { plugins, publicPlugins } = contract
  const { publishersOf } = service

  const toPublic = (row: PluginRow, definition?: PluginDefinition) =>
    withPublisher(row, publishersOf, (each) => ({
      ...toPlugin(each, definition),
      ...toHubMeta(each),
    }))

  return [
    route(plugins.list, async ({ actor, query }) => {
      const page = await service.list(actor, query, 'own')
      return { plugins: page.rows.map(toSummary), meta: toPageMeta(page) }
    }),

    route(plugins.create, async ({ actor, body, once }) =>
      once<PluginRow>(
        (remember) => service.create(actor, body, remember),
        (made) => ({ plugin: toPlugin(made) }),
      ),
    ),

    route(plugins.get, async ({ actor, params }) => ({
      plugin: toPlugin(await service.get(actor, params.id)),
    })),

    route(plugins.getByName, async ({ actor, params }) => ({
      plugin: toPlugin(await service.getByName(actor, params.name, params.version)),
    })),

    route(plugins.getCode, async ({ actor, params }) => ({
      code: await service.getCode(actor, params.id, params.platform),
    })),

    route(plugins.getDereferenced, async ({ actor, params, query }) => {
      const row = await service.get(actor, params.id)
      return { plugin: toPlugin(row, await dereference(actor, row, query.interfaces ?? {})) }
    }),

    route(plugins.update, async ({ actor, params, body }) => ({
      plugin: toPlugin(await service.update(actor, params.id, body)),
    })),

    route(plugins.remove, async ({ actor, params }) => {
      await service.remove(actor, params.id)
      return {}
    }),

    route(publicPlugins.list, async ({ actor, query }) => {
      const page = await service.list(actor, query, 'hub')
      return {
        plugins: await withPublishers(page.rows, publishersOf, (row) => ({
          ...toSummary(row),
          ...toHubMeta(row),
        })),
        meta: toPageMeta(page),
      }
    }),

    route(publicPlugins.get, async ({ params }) => ({
      plugin: await toPublic(await service.get('hub', params.id)),
    })),

    route(publicPlugins.getByName, async ({ params }) => ({
      plugin: await toPublic(await service.getByName('hub', params.name, params.version)),
    })),

    route(publicPlugins.getCode, async ({ params }) => ({
      code: await service.getCode('hub', params.id, params.platform),
    })),

    route(publicPlugins.getDereferenced, async ({ actor, params, query }) => {
      const row = await service.get('hub', params.id)
      return {
        plugin: await toPublic(row, await dereference(actor, row, query.interfaces ?? {})),
      }
    }),
  ]
}
