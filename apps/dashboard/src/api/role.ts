import { permissionsOf, type WorkspacePermission } from '@botstead/contract'
import { useQuery } from '@tanstack/react-query'
import { useScope } from './address.js'
import { queryClient, read } from './queries.js'

/** Decides what a page offers; the server decides what may be done. */
export type May = (permission: WorkspacePermission) => boolean

function ownMembership(workspaceId: string) {
  return read({ workspaceId }, 'getWorkspaceMember', {})
}

/** Reads the role before a screen is shown, so that no control appears that the role does not have. */
export async function loadRole(workspaceId: string): Promise<void> {
  // Without an answer, the screen shows what is wrong.
  await queryClient.ensureQueryData(ownMembership(workspaceId)).catch(() => undefined)
}

/** The membership of the reader in the workspace of the address; undefined while it is unknown. */
export function useOwnMember() {
  const { workspaceId } = useScope()
  // That in the workspace before would be taken for this one.
  return useQuery({ ...ownMembership(workspaceId), placeholderData: undefined }).data
}

/** Whether the role of the reader includes a permission; all of them while the role is unknown. */
export function useMay(): May {
  const role = useOwnMember()?.role
  return (permission) => role === undefined || permissionsOf(role).includes(permission)
}
