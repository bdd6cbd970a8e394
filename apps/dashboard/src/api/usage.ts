import type { Client, UsageType } from '@botstead/contract'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useScope } from './address.js'
import { list, read, useFurtherPages } from './queries.js'

/** The usage of one type by a workspace or a bot in a month, with its quota. */
export type Usage = Awaited<ReturnType<Client['getMultipleUsages']>>['usages'][number]

interface UsagesInput {
  /** Of the workspace and of bots in it. */
  ids: string[]
  types: readonly UsageType[]
  /** Such as `2026-03`. */
  period: string
}

/**
 * Reads the usage of the workspace and of bots in a month.
 * @param every milliseconds between two reads; undefined: read once
 */
export function useUsages({ ids, types, period }: UsagesInput, every?: number) {
  const { workspaceId } = useScope()
  const query = useQuery({
    ...read({ workspaceId }, 'getMultipleUsages', { ids, types: [...types], period }),
    // That of another month or bot would be taken for this one.
    placeholderData: undefined,
    ...(every !== undefined && { refetchInterval: every }),
  })
  return { query, usages: query.data?.usages ?? [] }
}

/** Maximum number of pages of days that are read: each bot has a row for each day. */
const maxPages = 20

/** Reads the usage of the workspace or a bot, by day and bot, newest first. */
export function useDailyUsage(id: string, type: UsageType, dateFrom: string, dateUntil: string) {
  const { workspaceId } = useScope()
  const query = useInfiniteQuery({
    ...list({ workspaceId }, 'listUsageActivityDaily', {
      id,
      type,
      dateFrom,
      dateUntil,
      pageSize: 100,
    }),
    // That of another type has another unit.
    placeholderData: undefined,
  })
  const pages = query.data?.pages ?? []
  const isWanted = pages.length < maxPages
  useFurtherPages(query, isWanted)
  return {
    query,
    rows: pages.flatMap(({ data }) => data),
    isReading: query.hasNextPage && isWanted,
  }
}

/**
 * Sets a quota of one of some types, or removes it with null.
 * @returns the quota that counts now, which may be that of the server
 */
export type SetQuota<Type extends UsageType> = (type: Type, value: number | null) => Promise<number>
