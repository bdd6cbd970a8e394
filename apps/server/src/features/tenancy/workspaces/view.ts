import type { contract, Output } from '@botstead/contract'
import { decodeBoolean, decodeJson } from '../../../platform/db/columns.js'
import type { WorkspaceRecord } from './service.js'

type WireWorkspace = Output<typeof contract.workspaces.get>

export function toWorkspace({ workspace, botCount }: WorkspaceRecord): WireWorkspace {
  return {
    id: workspace.id,
    name: workspace.name,
    ownerId: workspace.owner_id,
    createdAt: workspace.created_at,
    updatedAt: workspace.updated_at,
    botCount,
    billingVersion: 'v4',
    plan: 'community',
    blocked: false,
    spendingLimit: workspace.spending_limit,
    activeTrialId: null,
    ...(workspace.about !== null && { about: workspace.about }),
    ...(workspace.profile_picture !== null && { profilePicture: workspace.profile_picture }),
    ...(workspace.contact_email !== null && { contactEmail: workspace.contact_email }),
    ...(workspace.website !== null && { website: workspace.website }),
    ...(workspace.social_accounts !== null && {
      socialAccounts: decodeJson<string[]>(workspace.social_accounts),
    }),
    isPublic: decodeBoolean(workspace.is_public),
    ...(workspace.handle !== null && { handle: workspace.handle }),
  }
}
