import type { Client } from '@botstead/contract'
import { useQuery } from '@tanstack/react-query'
import { useScope } from '../../api/address.js'
import { change, read } from '../../api/queries.js'

type UpdateWorkspace = Omit<NonNullable<Parameters<Client['updateWorkspace']>[0]>, 'id'>

export function useWorkspace() {
  const { workspaceId } = useScope()
  return useQuery(read({ workspaceId }, 'getWorkspace', { id: workspaceId }))
}

/** The tokens of the signed-in account, without their values. */
export function useTokens() {
  return useQuery(read({}, 'listPersonalAccessTokens', {}))
}

/** The browsers in which the account is signed in. */
export function useSessions() {
  return useQuery(read({}, 'listSessions', {}))
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

/** Changes of the workspace and the account; each rejects with the refusal of the server. */
export function useWorkspaceActions() {
  const { workspaceId } = useScope()
  return {
    update: async (input: UpdateWorkspace): Promise<void> => {
      await change({ workspaceId }, 'updateWorkspace', { id: workspaceId, ...input })
    },
    createToken: async (note: string): Promise<string> => {
      const { pat } = await change({}, 'createPersonalAccessToken', { note })
      return pat.value
    },
    removeToken: async (id: string): Promise<void> => {
      await change({}, 'deletePersonalAccessToken', { id })
    },
    endSession: async (id: string): Promise<void> => {
      await change({}, 'deleteSession', { id })
    },
  }
}
