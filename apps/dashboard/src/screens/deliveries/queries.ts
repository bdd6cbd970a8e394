import type { Client } from '@botstead/contract'
import { type InfiniteData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import { useScope } from '../../api/address.js'
import {
  call,
  change,
  list,
  pendingUntilRow,
  queryClient,
  read,
  refresh,
} from '../../api/queries.js'
import type { DeliveryFilter, DeliveryStatus } from './filter.js'

type ListPage = Awaited<ReturnType<Client['listWorkspaceDeliveries']>>

/** A delivery as the list shows it. */
export type Delivery = ListPage['deliveries'][number]
/** Numbers of deliveries by status. */
export type Counts = NonNullable<ListPage['counts']>
/** A delivery with its attempts. */
export type DeliveryDetails = Awaited<ReturnType<Client['getWorkspaceDelivery']>>['delivery']
export type Attempt = DeliveryDetails['attemptLog'][number]
/** A receiver that fails or is paused. */
export type Receiver = Awaited<
  ReturnType<Client['listWorkspaceDeliveryReceivers']>
>['receivers'][number]
/** A replay of many deliveries. */
export type Replay = Awaited<ReturnType<Client['getDeliveryReplay']>>['replay']
/** The filter of the deliveries that are replayed. */
export type ReplayFilter = NonNullable<Parameters<Client['createDeliveryReplay']>[0]>

const pageSize = 100
/** Milliseconds between two looks at what may change by itself. */
const lookEvery = 5000
const lookOften = 1500
/** Milliseconds before the first look at a delivery that was sent again; most take less. */
const firstLook = 250
/** Looks at a delivery that was sent again. */
const maxLooks = 40
/** Deliveries of which the new state is read at a time. */
const maxChanged = 20

/**
 * The deliveries that match, newest first. Rows stay where they are read: new ones are counted, and the status of
 * those on the first page is kept up.
 */
export function useDeliveries(filter: DeliveryFilter, status: DeliveryStatus | undefined) {
  const { workspaceId } = useScope()
  const input = { ...filter, ...(status && { status: [status] }), pageSize }
  const options = list({ workspaceId }, 'listWorkspaceDeliveries', input)
  const query = useInfiniteQuery({
    ...options,
    placeholderData: undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const { data } = query
  const newestPage = read({ workspaceId }, 'listWorkspaceDeliveries', input)
  const { queryKey } = newestPage
  const [first] = data?.pages ?? []
  // A list that was just read need not be read again. This hook must precede the next one, which would read it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a key is the same as long as what was read with it
  useEffect(() => {
    if (first !== undefined) queryClient.setQueryData(queryKey, first)
  }, [first])
  const head = useQuery({
    ...newestPage,
    enabled: data !== undefined,
    placeholderData: undefined,
    staleTime: lookEvery,
    refetchInterval: lookEvery,
    gcTime: 0,
  })
  const loaded = useMemo(() => data?.pages.flatMap(({ deliveries }) => deliveries) ?? [], [data])
  const deliveries = useMemo(() => {
    const current = new Map(head.data?.deliveries.map((one) => [one.id, one]))
    return loaded.map((one) => current.get(one.id) ?? one)
  }, [loaded, head.data])
  const { data: now, dataUpdatedAt: lookedAt } = head
  const shownAt = useRef(0)
  // Those that no longer match were replayed elsewhere, or by a job: their new state is shown where they stand. Once
  // for each look, also if it found the same page: a delivery that was open then may have ended.
  useEffect(() => {
    if (now === undefined || status === undefined || shownAt.current === lookedAt) return
    shownAt.current = lookedAt
    showChanged(workspaceId, changedIn(loaded, now, status)).catch(() => {})
  }, [workspaceId, loaded, now, status, lookedAt])
  const [newest] = loaded
  const news =
    data === undefined
      ? []
      : (head.data?.deliveries.filter(
          ({ id, createdAt }) =>
            id !== newest?.id && createdAt >= (newest?.createdAt ?? '') && !isIn(loaded, id),
        ) ?? [])
  const counts = head.data?.counts ?? first?.counts
  return {
    query: pendingUntilRow(query, loaded),
    deliveries,
    counts,
    total: counts && { count: counts.total, isAbout: !counts.isExact },
    news: news.length,
    hasMoreNews: news.length === pageSize,
    show: async () => {
      await queryClient.resetQueries({ queryKey: options.queryKey })
    },
  }
}

/**
 * Rows of a list with one status that no longer have it, as far as a newer first page shows that, and that may change
 * again: the others are as they were when they were read.
 */
function changedIn(
  loaded: readonly Delivery[],
  { deliveries, meta }: ListPage,
  status: DeliveryStatus,
): Delivery[] {
  const last = deliveries.at(-1)?.createdAt ?? ''
  return loaded
    .filter((one) => one.status === status || one.status === 'pending')
    .filter((one) => !isIn(deliveries, one.id))
    .filter(({ createdAt }) => meta.nextToken === undefined || createdAt > last)
    .slice(0, maxChanged)
}

/** Reads deliveries again and shows their new state. */
async function showChanged(workspaceId: string, changed: readonly Delivery[]): Promise<void> {
  for (const { id: deliveryId } of changed) {
    const { delivery } = await call({ workspaceId }, 'getWorkspaceDelivery', { deliveryId })
    const { attemptLog: _, body: __, next: ___, ...row } = delivery
    updateRow(row)
  }
}

function isIn(deliveries: readonly Delivery[], id: string): boolean {
  return deliveries.some((one) => one.id === id)
}

/** Numbers of the deliveries that match by status, where the list itself does not have all of them. */
export function useDeliveryCounts(filter: DeliveryFilter, isNeeded: boolean) {
  const { workspaceId } = useScope()
  const { data } = useQuery({
    ...read({ workspaceId }, 'listWorkspaceDeliveries', { ...filter, pageSize: 1 }),
    enabled: isNeeded,
    refetchInterval: 2 * lookEvery,
  })
  return data?.counts
}

/** A delivery with its attempts, which is looked at until it is finished. */
export function useDelivery(deliveryId: string) {
  const { workspaceId } = useScope()
  return useQuery({
    ...read({ workspaceId }, 'getWorkspaceDelivery', { deliveryId }),
    placeholderData: undefined,
    refetchInterval: ({ state }) => (state.data?.delivery.status === 'pending' ? lookOften : false),
  })
}

/** Reads a delivery before it is opened. */
export function usePrefetchDelivery() {
  const { workspaceId } = useScope()
  return ({ id: deliveryId }: Delivery) =>
    void queryClient.prefetchQuery(read({ workspaceId }, 'getWorkspaceDelivery', { deliveryId }))
}

/** The receivers that fail or are paused. */
export function useReceivers() {
  const { workspaceId, botId } = useScope()
  const input = { ...(botId !== undefined && { botId }), pageSize: 100 }
  const query = useInfiniteQuery({
    ...list({ workspaceId }, 'listWorkspaceDeliveryReceivers', input),
    refetchInterval: lookEvery,
  })
  return { query, receivers: query.data?.pages.flatMap(({ receivers }) => receivers) ?? [] }
}

/**
 * The newest replays of many deliveries. When one ends that the page showed, the list is read again, without rows that no
 * longer match. After one that ended between two looks they stay, with their new state.
 */
export function useReplays() {
  const { workspaceId } = useScope()
  const query = useQuery({
    ...read({ workspaceId }, 'listDeliveryReplays', { pageSize: 20 }),
    refetchInterval: ({ state }) =>
      state.data?.replays.some((replay) => replay.state === 'running') === true
        ? lookOften
        : 4 * lookEvery,
  })
  const running = query.data?.replays.filter(({ state }) => state === 'running').length ?? 0
  const before = useRef(running)
  useEffect(() => {
    if (running < before.current) {
      refresh('listWorkspaceDeliveries', 'getWorkspaceDelivery').catch(() => {})
    }
    before.current = running
  }, [running])
  return query.data?.replays ?? []
}

/** Changes of deliveries and receivers; each rejects with the refusal of the server. */
export function useDeliveryActions() {
  const { workspaceId } = useScope()
  const scope = { workspaceId }
  return {
    replay: async ({ id, botId }: Pick<Delivery, 'id' | 'botId'>): Promise<void> => {
      const { delivery } = await call(scope, 'replayDelivery', { id: botId, deliveryId: id })
      updateRow({ ...delivery, botId })
      await refreshCounts()
      keepUp(workspaceId, id).catch(() => {})
    },
    replayMany: async (filter: ReplayFilter): Promise<void> => {
      await change(scope, 'createDeliveryReplay', filter)
    },
    cancelReplay: async (replayId: string): Promise<void> => {
      await change(scope, 'cancelDeliveryReplay', { replayId })
    },
    pause: async ({ botId, integration }: Pick<Delivery, 'botId' | 'integration'>) => {
      await call(scope, 'pauseDeliveries', { id: botId, ...(integration && { integration }) })
      await refreshCounts()
    },
    resume: async ({ botId, integration }: Pick<Delivery, 'botId' | 'integration'>) => {
      await call(scope, 'resumeDeliveries', { id: botId, ...(integration && { integration }) })
      await refreshCounts()
    },
    test: async (botId: string, type: string, payload: Record<string, unknown>) => {
      const { result } = await change(scope, 'sendTestEvent', { id: botId, type, payload })
      return result
    },
  }
}

/** Reads again what stands beside the list, which stays as it is read. */
async function refreshCounts(): Promise<void> {
  await Promise.all([
    refresh('getWorkspaceDelivery', 'listWorkspaceDeliveryReceivers', 'getOverview'),
    queryClient.invalidateQueries({
      predicate: ({ queryKey: [id, , , pages] }) =>
        id === 'listWorkspaceDeliveries' && pages === undefined,
    }),
  ])
}

/** Shows the new state of a delivery where it stands, also if it no longer matches the filter of the list. */
function updateRow(changed: Omit<Delivery, 'eventType'>): void {
  queryClient.setQueriesData<InfiniteData<ListPage>>(
    {
      predicate: ({ queryKey: [id, , , pages] }) =>
        id === 'listWorkspaceDeliveries' && pages === 'pages',
    },
    (data) =>
      data && {
        ...data,
        pages: data.pages.map((page) => ({
          ...page,
          deliveries: page.deliveries.map((one) =>
            one.id === changed.id ? { ...one, ...changed } : one,
          ),
        })),
      },
  )
}

/** Looks at a delivery that was sent again until it has a result, for at most a minute. */
async function keepUp(workspaceId: string, deliveryId: string): Promise<void> {
  const options = read({ workspaceId }, 'getWorkspaceDelivery', { deliveryId })
  for (let look = 0; look < maxLooks; look += 1) {
    const pause = Math.min(firstLook * 2 ** look, lookOften)
    await new Promise((resolve) => setTimeout(resolve, pause))
    const { delivery } = await queryClient.fetchQuery({ ...options, staleTime: pause })
    const { attemptLog: _, body: __, next: ___, ...row } = delivery
    updateRow(row)
    if (row.status !== 'pending') break
  }
  await refreshCounts()
}
