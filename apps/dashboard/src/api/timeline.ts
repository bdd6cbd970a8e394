import type { Client } from '@botstead/contract'
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { Scope } from './client.js'
import { useConversationSignals } from './conversation-signals.js'
import { call } from './queries.js'
import {
  addEarlier,
  addLater,
  renewEnd,
  type TimelineEntry,
  type TimelineWindow,
  windowOf,
} from './timeline-window.js'

type Input = Parameters<Client['getConversationTimeline']>[0]

/** The kinds of entries. */
export type EntryKind = TimelineEntry['kind']

const pageSize = 100
/** Entries at the end that are read again; deliveries of older ones no longer change often. */
const endSize = 50
/**
 * Milliseconds between two reads of the end. While a delivery is open or nobody listens to signals they begin with
 * `first`, because most deliveries take less, and double up to `often`.
 */
const renewIntervals = { first: 250, often: 2000, seldom: 5000 }
/** Maximum number of pages that a read of the end goes back to find what is known; then it begins anew. */
const maxSteps = 5

interface TimelineOptions {
  scope: Scope
  id: string
  kinds: readonly EntryKind[]
  /** Id of a message that the first page must have; the first page is the newest one without it. */
  around?: string | undefined
  /** Whether the signals of the conversation are listened to; not where another part of the page does. */
  hasSignals?: boolean
}

/** A conversation as it goes on: a window of its timeline that grows in both directions. */
export function useTimeline(options: TimelineOptions) {
  const { scope, id, kinds, around, hasSignals = true } = options
  const client = useQueryClient()
  const read = async (input: Omit<Input, 'id'>, signal?: AbortSignal) =>
    await call(
      scope,
      'getConversationTimeline',
      { id, kinds: [...kinds], pageSize, ...input },
      signal && { signal },
    )
  const windowQuery = queryOptions({
    queryKey: ['getConversationTimeline', scope, id, kinds, around],
    queryFn: async ({ signal }): Promise<TimelineWindow> =>
      windowOf(await read(around === undefined ? { from: 'end' } : { around }, signal)),
    // The window is kept up to date at its end alone.
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  })
  const query = useQuery(windowQuery)
  const [loading, setLoading] = useState<'earlier' | 'later'>()
  const isBusy = useRef(false)

  const change = (next: (window: TimelineWindow) => TimelineWindow | undefined) =>
    client.setQueryData(windowQuery.queryKey, (window) => window && next(window))

  const load = async (side: 'earlier' | 'later') => {
    const window = client.getQueryData(windowQuery.queryKey)
    const token = side === 'earlier' ? window?.previousToken : window?.nextToken
    if (token === undefined || isBusy.current) return
    isBusy.current = true
    setLoading(side)
    try {
      const page = await read(side === 'earlier' ? { previousToken: token } : { nextToken: token })
      change((now) => (side === 'earlier' ? addEarlier(now, page) : addLater(now, page)))
    } finally {
      isBusy.current = false
      setLoading(undefined)
    }
  }

  /** Reads the end again, if the window reaches it. */
  const renew = async () => {
    if (client.getQueryData(windowQuery.queryKey)?.nextToken !== undefined) return
    let page = await read({ from: 'end', pageSize: endSize })
    for (let step = 0; step < maxSteps; step++) {
      // Entries that were loaded meanwhile stay.
      const window = client.getQueryData(windowQuery.queryKey)
      if (window === undefined || window.nextToken !== undefined) return
      const next = renewEnd(window, page)
      if (next !== undefined) return void change(() => next)
      const earlier = await read({ previousToken: page.meta.previousToken })
      const { nextToken: _, ...meta } = earlier.meta
      page = { entries: [...earlier.entries, ...page.entries], meta }
    }
    change(() => windowOf(page))
  }
  const renewNow = useRef(renew)
  renewNow.current = renew

  const isLive = query.data !== undefined && query.data.nextToken === undefined
  useConversationSignals({
    scope,
    id,
    isOn: isLive && hasSignals,
    onChange: () => renewNow.current(),
  })
  const isOften = isLive && (!hasSignals || hasOpenDelivery(query.data))
  useEffect(() => {
    if (!isLive) return
    const { first, often, seldom } = renewIntervals
    let interval = isOften ? first : seldom
    let timer: ReturnType<typeof setTimeout>
    const again = () => {
      timer = setTimeout(() => {
        // Failed requests are repeated; the frame shows a lost connection.
        const done = document.hidden ? Promise.resolve() : renewNow.current().catch(() => {})
        void done.then(again)
      }, interval)
      if (isOften) interval = Math.min(interval * 2, often)
    }
    again()
    return () => clearTimeout(timer)
  }, [isLive, isOften])

  return {
    query,
    window: query.data,
    isLive,
    loading,
    loadEarlier: () => load('earlier'),
    loadLater: () => load('later'),
    renew: () => renewNow.current(),
  }
}

/** Whether somebody is being notified of an entry, or will be at once. */
function hasOpenDelivery({ entries }: TimelineWindow): boolean {
  return entries.some(
    (entry) =>
      'deliveries' in entry &&
      entry.deliveries.some(
        ({ status, attempts, isInProgress }) =>
          status === 'pending' && (attempts === 0 || isInProgress),
      ),
  )
}

export type Timeline = ReturnType<typeof useTimeline>
