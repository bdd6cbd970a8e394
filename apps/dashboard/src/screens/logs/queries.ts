import type { Client } from '@botstead/contract'
import { type InfiniteData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { useScope } from '../../api/address.js'
import { call, list, pendingUntilRow, queryClient, read } from '../../api/queries.js'
import { followStream } from '../../api/stream.js'
import type { LogFilter } from './filter.js'

type LogPage = Awaited<ReturnType<Client['listLogs']>>

/** A line of any log. */
export type LogLine = LogPage['logs'][number]

/** Maximum number of new lines that are kept until the reader asks for them. */
const maxNews = 1000
/** Milliseconds between two readings of the chart while it ends with the present. */
const countEvery = 30_000

function listOf(workspaceId: string, filter: LogFilter) {
  return list({ workspaceId }, 'listLogs', { ...filter, pageSize: 100 })
}

/** The lines that match, newest first. They stay as they are read: what comes later is news. */
export function useLogs(filter: LogFilter) {
  const { workspaceId } = useScope()
  const query = useInfiniteQuery({
    ...listOf(workspaceId, filter),
    placeholderData: undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const { data } = query
  const lines = useMemo(() => data?.pages.flatMap(({ logs }) => logs) ?? [], [data])
  return {
    query: pendingUntilRow(query, lines),
    lines,
    position: data?.pages[0]?.meta.position,
  }
}

interface News {
  lines: readonly LogLine[]
  /** Whether there are more than can be kept. */
  isMore: boolean
}

const noNews: News = { lines: [], isMore: false }

/** The lines that came since the list was read, and a function that puts them on its top. */
export function useNewLines(
  filter: LogFilter,
  { lines, position }: { lines: readonly LogLine[]; position: string | undefined },
) {
  const { workspaceId } = useScope()
  const [news, setNews] = useState(noNews)
  useEffect(() => {
    setNews(noNews)
    if (position === undefined || filter.until !== undefined) return
    const abort = new AbortController()
    const { since: _, ...rest } = filter
    const path = `/v1/admin/logs/stream?${new URLSearchParams(rest)}`
    const follow = async () => {
      const { signal } = abort
      const events = followStream({ scope: { workspaceId }, path, after: position, signal })
      for await (const { type, data } of events) {
        // A stream has the lines that its operation declares.
        setNews((before) => added(before, type === 'log_line' ? (data as LogLine) : undefined))
      }
    }
    // The list shows why the server refuses the filter.
    follow().catch(() => {})
    return () => abort.abort()
  }, [workspaceId, filter, position])
  const known = useMemo(() => new Set(lines.map(({ id }) => id)), [lines])
  // The stream repeats lines of the last seconds before its position.
  const fresh = news.lines.filter(({ id }) => !known.has(id))
  return {
    count: fresh.length,
    isMore: news.isMore,
    show: async () => {
      setNews(noNews)
      const { queryKey } = listOf(workspaceId, filter)
      if (news.isMore) await queryClient.resetQueries({ queryKey })
      else queryClient.setQueryData<InfiniteData<LogPage>>(queryKey, (data) => onTop(data, fresh))
      await queryClient.invalidateQueries({ queryKey: ['countLogs'] })
    },
  }
}

/** Lines of the last seconds may come twice. */
function added(before: News, line: LogLine | undefined): News {
  if (line === undefined || before.lines.length >= maxNews) return { ...before, isMore: true }
  if (before.lines.some(({ id }) => id === line.id)) return before
  return { ...before, lines: [line, ...before.lines] }
}

function onTop(data: InfiniteData<LogPage> | undefined, lines: readonly LogLine[]) {
  const [first, ...rest] = data?.pages ?? []
  if (data === undefined || first === undefined) return data
  const logs = [...lines, ...first.logs]
  logs.sort((a, b) => b.timestamp.localeCompare(a.timestamp))
  return { ...data, pages: [{ ...first, logs }, ...rest] }
}

/** The number of lines by level over time. */
export function useLogCounts(filter: LogFilter) {
  const { workspaceId } = useScope()
  return useQuery({
    ...read({ workspaceId }, 'countLogs', { ...filter, buckets: 60 }),
    refetchInterval: filter.until === undefined ? countEvery : false,
  })
}

/** Pages of lines of one millisecond that are looked through for one of them. */
const maxPages = 20

/** One line: the interface finds lines by their time. */
export function useLogLine(item: string, known: LogLine | undefined) {
  const { workspaceId } = useScope()
  const { time, id } = toPlace(item)
  const query = useQuery({
    queryKey: ['listLogs', { workspaceId }, item],
    enabled: known === undefined,
    queryFn: async ({ signal }) => {
      let nextToken: string | undefined
      for (let page = 0; page < maxPages; page += 1) {
        const input = { since: time, until: time, pageSize: 100, ...(nextToken && { nextToken }) }
        const { logs, meta } = await call({ workspaceId }, 'listLogs', input, { signal })
        const line = logs.find((one) => one.id === id)
        if (line !== undefined) return line
        nextToken = meta.nextToken
        if (nextToken === undefined) break
      }
      throw new Error('There is no such line any more: logs are kept for a limited time.')
    },
  })
  return { ...query, line: known ?? query.data }
}

/** The part of an address that names a line: its time, which finds it, and its id. */
export function itemOf({ timestamp, id }: Pick<LogLine, 'timestamp' | 'id'>): string {
  return `${timestamp}~${id}`
}

function toPlace(item: string) {
  const [time = '', id = ''] = item.split('~')
  return { time, id }
}
