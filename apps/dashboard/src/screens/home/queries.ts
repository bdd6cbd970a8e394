import { type Client, quotaTypes } from '@botstead/contract'
import { type UseQueryResult, useQueries, useQuery } from '@tanstack/react-query'
import { useScope } from '../../api/address.js'
import { change, read } from '../../api/queries.js'
import { type Usage, useUsages } from '../../api/usage.js'
import { formatNumber } from '../../ui/numbers.js'
import { monthOf } from '../../ui/usage/months.js'
import { completionOf } from '../../ui/usage/quotas.js'

/** The state of the workspace. */
export type Overview = Awaited<ReturnType<Client['getOverview']>>
export type BotHealth = Overview['bots'][number]
export type Reason = BotHealth['reasons'][number]
export type Degraded = Awaited<ReturnType<Client['getReadiness']>>['checks'][number]
export type ErrorGroup = Overview['errors']['groups'][number]

/** Counts end there. */
const maxCounted = 1000

/** A count of the overview in words. */
export function describeCount(count: number): string {
  return `${formatNumber(count)}${count >= maxCounted ? ' or more' : ''}`
}

/** Milliseconds between two looks. */
const lookEvery = 10_000

/** The state of the workspace, or of the bot of the address: up to some seconds old. */
export function useOverview(): Pick<UseQueryResult, 'error' | 'refetch'> & {
  overview: Overview | undefined
} {
  const { workspaceId, botId } = useScope()
  const query = useQuery({
    ...read({ workspaceId }, 'getOverview', botId === undefined ? {} : { botId }),
    // That of the bot before would be taken for this one.
    placeholderData: undefined,
    refetchInterval: lookEvery,
  })
  return { ...query, overview: query.data }
}

/** Parts of the server that work with reduced function; for its operator only. */
export function useDegraded({ operator }: Overview): readonly Degraded[] {
  const query = useQuery({
    ...read({}, 'getReadiness', {}),
    enabled: operator !== undefined,
    refetchInterval: lookEvery,
  })
  return query.data?.checks.filter(({ status }) => status === 'degraded') ?? []
}

/** Milliseconds between two looks at quotas, which fill slowly. */
const quotasEvery = 60_000

/** What a bot can have a quota of. */
const botQuotaTypes = [
  'invocation_calls',
  'storage_count',
  'knowledgebase_vector_storage',
] as const satisfies readonly (typeof quotaTypes)[number][]

/**
 * What the workspace used this month of what can have a quota, and the bot of the address; without one, the bots that
 * have used a quota, or nearly.
 */
export function useQuotaUsages(): readonly Usage[] {
  const { workspaceId, botId } = useScope()
  const period = monthOf(Date.now())
  const ids = [workspaceId, ...(botId === undefined ? [] : [botId])]
  const { usages } = useUsages({ ids, types: quotaTypes, period }, quotasEvery)
  const ofBots = useQueries({
    queries: botQuotaTypes.map((type) => ({
      ...read({ workspaceId }, 'listWorkspaceUsages', { id: workspaceId, type, period }),
      enabled: botId === undefined,
      refetchInterval: quotasEvery,
    })),
    combine: (results) => results.flatMap(({ data }) => data?.usages ?? []),
  })
  if (botId !== undefined) return usages
  return [...usages, ...ofBots.filter((usage) => usage.id !== workspaceId && isNearlyUsed(usage))]
}

function isNearlyUsed(usage: Usage): boolean {
  const completion = completionOf(usage)
  return completion !== undefined && completion.level !== 'low'
}

/** The actions of a person on groups of errors; each rejects with the refusal of the server. */
export function useErrorActions() {
  const { workspaceId } = useScope()
  return {
    /** Resolves those that are shown: others may have come meanwhile. */
    resolve: async ({ id: errorId, lastAt, botId }: ErrorGroup): Promise<void> => {
      await change({ workspaceId }, 'resolveErrors', { errorId, lastAt, ...(botId && { botId }) })
    },
    reopen: async ({ id: errorId }: ErrorGroup): Promise<void> => {
      await change({ workspaceId }, 'reopenErrors', { errorId })
    },
  }
}
