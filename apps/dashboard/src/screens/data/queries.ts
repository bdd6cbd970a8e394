import type { Client } from '@botstead/contract'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useScope } from '../../api/address.js'
import { call, change, list, read } from '../../api/queries.js'

type Input<Id extends keyof Client> = NonNullable<Parameters<Client[Id]>[0]>
export type User = Awaited<ReturnType<Client['getUser']>>['user']
export type Event = Awaited<ReturnType<Client['getEvent']>>['event']
export type Workflow = Awaited<ReturnType<Client['getWorkflow']>>['workflow']
export type State = Awaited<ReturnType<Client['getState']>>['state']
export type StateKey = Input<'getState'>

export function useUsers(filter: Omit<Input<'listUsers'>, 'nextToken' | 'pageSize'>) {
  const query = useInfiniteQuery(list(useScope(), 'listUsers', { ...filter, pageSize: 100 }))
  return { query, rows: query.data?.pages.flatMap(({ users }) => users) ?? [] }
}

export function useEvents(filter: Omit<Input<'listEvents'>, 'nextToken' | 'pageSize'>) {
  const query = useInfiniteQuery(list(useScope(), 'listEvents', { ...filter, pageSize: 100 }))
  return { query, rows: query.data?.pages.flatMap(({ events }) => events) ?? [] }
}

export function useWorkflows(filter: Omit<Input<'listWorkflows'>, 'nextToken' | 'pageSize'>) {
  const query = useInfiniteQuery(list(useScope(), 'listWorkflows', { ...filter, pageSize: 100 }))
  return { query, rows: query.data?.pages.flatMap(({ workflows }) => workflows) ?? [] }
}

export function useUser(id: string) {
  return useQuery(read(useScope(), 'getUser', { id }))
}

export function useEvent(id: string) {
  return useQuery(read(useScope(), 'getEvent', { id }))
}

export function useWorkflow(id: string) {
  return useQuery(read(useScope(), 'getWorkflow', { id }))
}

/** A state by its owner and name; nothing is read before all three are given. */
export function useBotState(key: StateKey | undefined) {
  const scope = useScope()
  return useQuery({
    ...read(scope, 'getState', key ?? { type: 'bot', id: '-', name: '-' }),
    enabled: key !== undefined,
  })
}

/** Changes of users, states and scheduled events; each rejects with the refusal of the server. */
export function useDataActions() {
  const scope = useScope()
  return {
    ban: async (id: string): Promise<void> => {
      await change(scope, 'banUser', { id })
    },
    unban: async (id: string): Promise<void> => {
      await change(scope, 'unbanUser', { id })
    },
    revokeKeys: async (id: string): Promise<void> => {
      await call(scope, 'revokeUserKeys', { id })
    },
    cancelEvent: async (id: string): Promise<void> => {
      await change(scope, 'cancelScheduledEvent', { id })
    },
    setState: async (key: StateKey, payload: Record<string, unknown>): Promise<void> => {
      await change(scope, 'setState', { ...key, payload })
    },
  }
}
