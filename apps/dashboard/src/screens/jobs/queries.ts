import type { Client } from '@botstead/contract'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { call, change, list, read, refreshAfter } from '../../api/queries.js'

type Jobs = Awaited<ReturnType<Client['listJobs']>>
export type Job = Jobs['jobs'][number]
export type JobKind = NonNullable<Jobs['kinds']>[number]

/** Milliseconds after which the numbers of jobs are read again. */
const refreshMilliseconds = 5000

/** The jobs that are not done, and the kinds of jobs with their numbers. */
export function useJobs(filter: { kind?: string; state?: Job['state'] }) {
  const query = useInfiniteQuery({
    ...list({}, 'listJobs', { ...filter, pageSize: 100 }),
    refetchInterval: refreshMilliseconds,
  })
  return {
    query,
    jobs: query.data?.pages.flatMap(({ jobs }) => jobs) ?? [],
    kinds: query.data?.pages[0]?.kinds ?? [],
  }
}

/** The jobs that the server runs again and again. */
export function useSchedules() {
  return useQuery({ ...read({}, 'listJobSchedules', {}), refetchInterval: refreshMilliseconds })
}

/** Changes of jobs; each rejects with the refusal of the server. */
export function useJobActions() {
  return {
    retry: async (ids: readonly string[]): Promise<void> => {
      try {
        for (const id of ids) await call({}, 'retryJob', { id })
      } finally {
        await refreshAfter('retryJob')
      }
    },
    /** Returns how many are due again. */
    retryAll: async (kind: string): Promise<number> => {
      let retried = 0
      for (let hasMore = true; hasMore; ) {
        const result = await call({}, 'retryJobs', { kind })
        retried += result.retried
        hasMore = result.hasMore
      }
      await refreshAfter('retryJobs')
      return retried
    },
    drop: async (ids: readonly string[]): Promise<void> => {
      try {
        for (const id of ids) await call({}, 'dropJob', { id })
      } finally {
        await refreshAfter('dropJob')
      }
    },
    run: async (kind: string): Promise<void> => {
      await change({}, 'runJobSchedule', { kind })
    },
  }
}
