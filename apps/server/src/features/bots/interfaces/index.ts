import { contract, type Output } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Feature } from '../../feature.js'
import {
  type CatalogueSummaryRow,
  iconUrlOf,
  readmeUrlOf,
  withPublisher,
  withPublishers,
} from '../definitions/index.js'
import type { InterfaceDefinition } from './definition.js'
import {
  createInterfacesService,
  type InterfacesService,
  type InterfacesServiceDeps,
} from './service.js'
import type { InterfaceRow } from './store.js'

export type { InterfaceDefinition } from './definition.js'
export type { InterfacesService } from './service.js'
export { type InterfaceUse, usesIn } from './use-store.js'

/** Interfaces: abilities that several integrations have in the same form, so that plugins can use any of them. */
export function createInterfaces(
  deps: InterfacesServiceDeps,
): Feature & { service: InterfacesService } {
  const service = createInterfacesService(deps)
  return {
    name: 'interfaces',
    service,
    routes: interfacesRoutes(service),
    on: { 'workspace.removed': (tx, { workspaceId }) => service.removeAll(tx, workspaceId) },
  }
}

function interfacesRoutes(service: InterfacesService): Route[] {
  const { interfaces } = contract
  const { publishersOf } = service

  return [
    route(interfaces.list, async ({ actor, query }) => {
      const page = await service.list(actor, query, 'own')
      return { interfaces: page.rows.map(toSummary), meta: toPageMeta(page) }
    }),

    route(interfaces.listPublic, async ({ actor, query }) => {
      const page = await service.list(actor, query, 'hub')
      return {
        interfaces: await withPublishers(page.rows, publishersOf, toSummary),
        meta: toPageMeta(page),
      }
    }),

    route(interfaces.create, async ({ actor, body, once }) =>
      once<InterfaceRow>(
        (remember) => service.create(actor, body, remember),
        (made) => ({ interface: toInterface(made) }),
      ),
    ),

    route(interfaces.get, async ({ actor, params }) => ({
      interface: toInterface(await service.get(actor, params.id)),
    })),

    route(interfaces.getByName, async ({ actor, params }) => ({
      interface: toInterface(await service.getByName(actor, params.name, params.version)),
    })),

    route(interfaces.update, async ({ actor, params, body }) => ({
      interface: toInterface(await service.update(actor, params.id, body)),
    })),

    route(interfaces.remove, async ({ actor, params }) => {
      await service.remove(actor, params.id)
      return {}
    }),

    route(interfaces.getPublic, async ({ params }) => ({
      interface: await withPublisher(
        await service.get('hub', params.id),
        publishersOf,
        toInterface,
      ),
    })),

    route(interfaces.getPublicByName, async ({ params }) => ({
      interface: await withPublisher(
        await service.getByName('hub', params.name, params.version),
        publishersOf,
        toInterface,
      ),
    })),
  ]
}

type WireInterface = Output<typeof contract.interfaces.get>['interface']
type WireSummary = Output<typeof contract.interfaces.list>['interfaces'][number]

function toSummary(row: CatalogueSummaryRow): WireSummary {
  return {
    id: row.id,
    name: row.name,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    title: row.title,
    description: row.description,
    iconUrl: iconUrlOf(row.icon),
    readmeUrl: '',
    public: row.visibility === 'public',
  }
}

function toInterface(row: InterfaceRow): WireInterface {
  return {
    ...toSummary(row),
    readmeUrl: readmeUrlOf(row.readme),
    ...decodeJson<InterfaceDefinition>(row.definition),
  }
}
