import type { Client } from '@botstead/contract'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { call, read, refresh } from '../../api/queries.js'
import { useScope } from '../../frame/address.js'

/** The state of the workspace. */
export type Overview = Awaited<ReturnType<Client['getOverview']>>
export type BotHealth = Overview['bots'][number]
export type Reason = BotHealth['reasons'][number]
export type ErrorGroup = Overview['errors']['groups'][number]

/** Milliseconds between two looks. */
const lookEvery = 10_000

/** The state of the workspace, or of the bot of the address: up to some seconds old. */
export function useOverview(): Pick<UseQueryResult, 'error' | 'refetch'> & {
  overview: Overview | undefined
} {
  const { workspaceId, botId } = useScope()
  const query = useQuery({
    ...read({ workspaceId }, 'getOverview', {}),
    refetchInterval: lookEvery,
  })
  const overview = query.data
  if (overview === undefined || botId === undefined) return { ...query, overview }
  const { operator: _, ...own } = overview
  const { groups, ...errors } = overview.errors
  return {
    ...query,
    overview: {
      ...own,
      bots: overview.bots.filter(({ id }) => id === botId),
      errors: { ...errors, groups: groups.filter((group) => group.botId === botId) },
    },
  }
}

/** The actions of a person on groups of errors; each rejects with the refusal of the server. */
export function useErrorActions() {
  const { workspaceId } = useScope()
  return {
    /** Resolves those that are shown: others may have come meanwhile. */
    resolve: async ({ id: errorId, lastAt }: ErrorGroup): Promise<void> => {
      await call({ workspaceId }, 'resolveErrors', { errorId, lastAt })
      await refresh('getOverview')
    },
    reopen: async ({ id: errorId }: ErrorGroup): Promise<void> => {
      await call({ workspaceId }, 'reopenErrors', { errorId })
      await refresh('getOverview')
    },
  }
}
