import type { Feature } from '../../feature.js'
import { workspacesRoutes } from './routes.js'
import { createWorkspacesService, type WorkspacesDeps, type WorkspacesService } from './service.js'

export { mayWrite, type Role, readsOnly } from './policy.js'
export type { WorkspacesService } from './service.js'

export interface Workspaces extends Feature {
  service: WorkspacesService
}

/** Workspaces, the tenants, and their members. */
export function createWorkspaces(deps: WorkspacesDeps): Workspaces {
  const service = createWorkspacesService(deps)
  return { name: 'workspaces', service, routes: workspacesRoutes(service) }
}
