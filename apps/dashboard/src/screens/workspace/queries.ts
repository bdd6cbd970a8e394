import type { Client, Role } from '@botstead/contract'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useScope } from '../../api/address.js'
import { call, change, list, read } from '../../api/queries.js'

type UpdateWorkspace = Omit<NonNullable<Parameters<Client['updateWorkspace']>[0]>, 'id'>

export function useWorkspace() {
  const { workspaceId } = useScope()
  return useQuery(read({ workspaceId }, 'getWorkspace', { id: workspaceId }))
}

/** A member of the workspace, or an open invitation. */
export type Member = Awaited<ReturnType<Client['getWorkspaceMember']>>

/** The members and open invitations, oldest first. */
export function useMembers() {
  const { workspaceId } = useScope()
  const query = useInfiniteQuery(list({ workspaceId }, 'listWorkspaceMembers', { pageSize: 100 }))
  return { query, members: query.data?.pages.flatMap(({ members }) => members) ?? [] }
}

/** Changes of members; each rejects with the refusal of the server. */
export function useMemberActions() {
  const { workspaceId } = useScope()
  const scope = { workspaceId }
  return {
    /** @returns the address of the invitation */
    invite: async (email: string, role: Role): Promise<string> =>
      (await change(scope, 'createWorkspaceMember', { email, role })).invitationUrl,
    /** @returns the new address of the invitation */
    renew: async (id: string): Promise<string> =>
      (await call(scope, 'renewWorkspaceInvitation', { id })).invitationUrl,
    changeRole: async (id: string, role: Role): Promise<void> => {
      await change(scope, 'updateWorkspaceMember', { id, role })
    },
    remove: async (id: string): Promise<void> => {
      await change(scope, 'deleteWorkspaceMember', { id })
    },
    /** As `remove`, of the reader, who may read nothing of the workspace afterwards. */
    leave: async (id: string): Promise<void> => {
      await call(scope, 'deleteWorkspaceMember', { id })
    },
  }
}

/** The limits of the workspace with what is used of them. */
export function useLimits() {
  const { workspaceId } = useScope()
  return useQuery(read({ workspaceId }, 'listWorkspaceLimits', { id: workspaceId }))
}

/** The server itself; refused to everybody but its operator. */
export function useServer() {
  return useQuery(read({}, 'getServer', {}))
}

/** Changes of the workspace; each rejects with the refusal of the server. */
export function useWorkspaceActions() {
  const { workspaceId } = useScope()
  return {
    update: async (input: UpdateWorkspace): Promise<void> => {
      await change({ workspaceId }, 'updateWorkspace', { id: workspaceId, ...input })
    },
  }
}
