import { contract } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import type { WorkspaceRecord, WorkspacesService } from './service.js'
import { toWorkspace } from './view.js'

export function workspacesRoutes(service: WorkspacesService): Route[] {
  return [
    route(contract.workspaces.list, async ({ actor, query }) => {
      const page = await service.list(actor, query)
      return { workspaces: page.rows.map(toWorkspace), meta: toPageMeta(page) }
    }),

    route(contract.workspaces.create, async ({ actor, body, once }) =>
      once<WorkspaceRecord>((remember) => service.create(actor, body, remember), toWorkspace),
    ),

    route(contract.workspaces.get, async ({ actor, params }) =>
      toWorkspace(await service.get(actor, params.id)),
    ),

    route(contract.workspaces.update, async ({ actor, params, body }) =>
      toWorkspace(await service.update(actor, params.id, body)),
    ),

    route(contract.workspaces.remove, async ({ actor, params }) => {
      await service.remove(actor, params.id)
      return {}
    }),
  ]
}
