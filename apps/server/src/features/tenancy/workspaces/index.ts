import { contract, type Output } from '@botstead/contract'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import { decodeBoolean, decodeJson } from '../../../platform/db/columns.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import type { Feature } from '../../feature.js'
import type { MembersService } from '../members/index.js'
import {
  createWorkspacesService,
  type WorkspaceRecord,
  type WorkspacesDeps,
  type WorkspacesService,
} from './service.js'
import type { WorkspaceRow } from './store.js'

export type { WorkspacesService } from './service.js'
export { holdWorkspace } from './service.js'
export { findWorkspace, keepWorkspace, listIdsAfter } from './store.js'

/** Kind of the job that an update of the server enqueues for each workspace that left something behind. */
const leftoversJob = 'workspaces.leftovers'

interface Deps extends Omit<WorkspacesDeps, 'members'> {
  members: { service: WorkspacesDeps['members'] & Pick<MembersService, 'nameOfWorkspace'> }
}

/** Workspaces, the tenants. */
export function createWorkspaces(deps: Deps): Feature & { service: WorkspacesService } {
  const service = createWorkspacesService({ ...deps, members: deps.members.service })
  deps.members.service.nameOfWorkspace.fill(service.nameOf)
  const removeLeftovers: JobHandler<{ workspaceId: string }> = {
    mayUseReserve: true,
    handler: ({ payload: { workspaceId } }) => service.removeLeftovers(workspaceId),
  }
  return {
    name: 'workspaces',
    service,
    routes: workspacesRoutes(service),
    jobs: { [leftoversJob]: removeLeftovers },
    on: {
      'member.changed': (tx, { workspaceId }) => service.passOn(tx, workspaceId),
      'member.removed': (tx, { workspaceId }) => service.passOn(tx, workspaceId),
    },
  }
}

function workspacesRoutes(service: WorkspacesService): Route[] {
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

    route(contract.workspaces.listPublic, async ({ query }) => {
      const page = await service.listPublic(query)
      return { workspaces: page.rows.map(toPublicWorkspace), meta: toPageMeta(page) }
    }),

    route(contract.workspaces.getPublic, async ({ params }) =>
      toPublicWorkspace(await service.getPublic(params.id)),
    ),

    route(contract.workspaces.checkHandle, async ({ actor, body }) =>
      service.checkHandle(actor, body.handle),
    ),

    route(contract.workspaces.remove, async ({ actor, params }) => {
      await service.remove(actor, params.id)
      return {}
    }),
  ]
}

type WireWorkspace = Output<typeof contract.workspaces.get>

function toWorkspace({ workspace, botCount }: WorkspaceRecord): WireWorkspace {
  return {
    ...toPublicWorkspace(workspace),
    ownerId: workspace.owner_id,
    botCount,
    billingVersion: 'v4',
    plan: 'community',
    blocked: false,
    spendingLimit: workspace.spending_limit,
    activeTrialId: null,
    isPublic: decodeBoolean(workspace.is_public),
  }
}

function toPublicWorkspace(workspace: WorkspaceRow): Output<typeof contract.workspaces.getPublic> {
  return {
    id: workspace.id,
    name: workspace.name,
    createdAt: workspace.created_at,
    updatedAt: workspace.updated_at,
    ...(workspace.about !== null && { about: workspace.about }),
    ...(workspace.profile_picture !== null && { profilePicture: workspace.profile_picture }),
    ...(workspace.contact_email !== null && { contactEmail: workspace.contact_email }),
    ...(workspace.website !== null && { website: workspace.website }),
    ...(workspace.social_accounts !== null && {
      socialAccounts: decodeJson<string[]>(workspace.social_accounts),
    }),
    ...(workspace.handle !== null && { handle: workspace.handle }),
  }
}
