import { mediaIn } from '@botstead/chat-view'
import { type Client, toApiError } from '@botstead/contract'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useScope } from '../../api/address.js'
import { fetchFromServer, headersOf, serverUrl } from '../../api/client.js'
import { call, change, list, pendingUntilRow, queryClient, read } from '../../api/queries.js'
import type { ConversationFilter } from './filter.js'

type Page = Awaited<ReturnType<Client['listWorkspaceConversations']>>

/** A conversation as the list shows it. */
export type ConversationSummary = Page['conversations'][number]

/** Milliseconds between two looks for what became active since the list was read. */
const newsInterval = 10_000
/** Maximum number of calls for the next conversation: the server bounds the work of each. */
const maxSteps = 20

/**
 * The conversations of the workspace that match, last active first. Rows stay where they are read; what became of the
 * deliveries of those on the first page is kept up.
 */
export function useConversations(filter: ConversationFilter) {
  const { workspaceId } = useScope()
  const input = { ...filter, pageSize: 100 }
  const query = useInfiniteQuery(list({ workspaceId }, 'listWorkspaceConversations', input))
  const pages = query.data?.pages
  const head = useHead(filter, query.isPlaceholderData ? undefined : pages?.[0])
  const conversations = (pages?.flatMap((page) => page.conversations) ?? []).map((row) => {
    if (head === undefined) return row
    const current = head.conversations.find(({ id }) => id === row.id)
    if (current !== undefined) {
      const { hasFailedDelivery, hasPendingDelivery } = current
      return { ...row, hasFailedDelivery, hasPendingDelivery }
    }
    const last = head.conversations.at(-1)?.lastActivityAt ?? ''
    const isInHead = head.meta.nextToken === undefined || row.lastActivityAt > last
    // It no longer matches the filter.
    const isMended = filter.hasFailedDelivery === true && isInHead
    return isMended ? { ...row, hasFailedDelivery: false } : row
  })
  const total = pages?.[0]?.meta.total
  return {
    query: pendingUntilRow(query, conversations),
    conversations,
    total: total && { count: total.count, isAbout: total.accuracy !== 'exact' },
    // While another filter is read, the pages and their tokens are those of the filter before.
    firstToken: query.isPlaceholderData ? undefined : pages?.[0]?.meta.previousToken,
  }
}

/** The first page as it is now; undefined until the list has one. */
function useHead(filter: ConversationFilter, first: Page | undefined): Page | undefined {
  const { workspaceId } = useScope()
  const newest = read({ workspaceId }, 'listWorkspaceConversations', { ...filter, pageSize: 100 })
  const { queryKey } = newest
  // Puts the page that was just read into the cache, before the next hook would read it again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a key is the same as long as what was read with it
  useEffect(() => {
    if (first !== undefined) queryClient.setQueryData(queryKey, first)
  }, [first])
  const { data } = useQuery({
    ...newest,
    enabled: first !== undefined,
    placeholderData: undefined,
    staleTime: newsInterval,
    refetchInterval: newsInterval,
    gcTime: 0,
  })
  return first === undefined ? undefined : data
}

/** The number of conversations that became active since the list was read. */
export function useNews(filter: ConversationFilter, firstToken: string | undefined): number {
  const { workspaceId } = useScope()
  const input = { ...filter, pageSize: 100, previousToken: firstToken ?? '' }
  const { data } = useQuery({
    ...read({ workspaceId }, 'listWorkspaceConversations', input),
    enabled: firstToken !== undefined,
    placeholderData: undefined,
    refetchInterval: newsInterval,
  })
  return data?.conversations.length ?? 0
}

/** Finds the conversation after or before another one in a filter; undefined if there is none. */
export function useNeighbour(filter: ConversationFilter) {
  const { workspaceId } = useScope()
  return async (id: string, direction: 'next' | 'previous'): Promise<string | undefined> => {
    const isNext = direction === 'next'
    let place: object = isNext ? { afterId: id } : { beforeId: id }
    for (let step = 0; step < maxSteps; step++) {
      const input = { ...filter, ...place, pageSize: 1 }
      const { conversations, meta } = await call(
        { workspaceId },
        'listWorkspaceConversations',
        input,
      )
      const [found] = conversations
      if (found !== undefined) return found.id
      const token = isNext ? meta.nextToken : meta.previousToken
      if (token === undefined) return undefined
      place = isNext ? { nextToken: token } : { previousToken: token }
    }
    return undefined
  }
}

/** Reads a conversation before it is opened. */
export function usePrefetchConversation() {
  const { workspaceId } = useScope()
  return ({ id }: ConversationSummary) =>
    void queryClient.prefetchQuery(read({ workspaceId }, 'getWorkspaceConversation', { id }))
}

export function useConversation(id: string) {
  const { workspaceId } = useScope()
  return useQuery(read({ workspaceId }, 'getWorkspaceConversation', { id }))
}

/** The users who take part in a conversation, the newest first, page by page. */
export function useParticipants({ id, botId }: { id: string; botId: string }) {
  const query = useInfiniteQuery(list({ botId }, 'listParticipants', { id, pageSize: 100 }))
  return { query, users: query.data?.pages.flatMap(({ participants }) => participants) ?? [] }
}

/** The states of a conversation, page by page. */
export function useStates(id: string) {
  const { workspaceId } = useScope()
  const input = { id, kinds: ['state' as const], pageSize: 100 }
  const query = useInfiniteQuery(list({ workspaceId }, 'getConversationTimeline', input))
  const entries = query.data?.pages.flatMap((page) => page.entries) ?? []
  return { query, states: entries.flatMap((one) => (one.kind === 'state' ? [one.state] : [])) }
}

/** The files that users sent, the newest first: those in the newest 100 messages, and page by page those before. */
export function useSentFiles(id: string) {
  const { workspaceId } = useScope()
  const input = { id, kinds: ['message' as const], from: 'end' as const, pageSize: 100 }
  const { from, ...rest } = input
  const query = useInfiniteQuery({
    queryKey: ['getConversationTimeline', { workspaceId }, input, 'earlier'],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }) =>
      await call(
        { workspaceId },
        'getConversationTimeline',
        pageParam === undefined ? input : { ...rest, previousToken: pageParam },
        { signal },
      ),
    getNextPageParam: ({ meta }) => meta.previousToken,
  })
  const entries = query.data?.pages.toReversed().flatMap((page) => page.entries) ?? []
  const messages = entries.flatMap((entry) =>
    entry.kind === 'message' && entry.message.direction === 'incoming' ? [entry.message] : [],
  )
  const files = messages.flatMap(({ id: key, createdAt: at, type, payload }) =>
    mediaIn({ ...payload, type }).map((media, part) => ({ ...media, at, key: `${key} ${part}` })),
  )
  return { query, files: files.toReversed() }
}

/** The conversations in which a user takes part, last active first, at most 10. */
export function useConversationsOf(botId: string, userId: string) {
  const { workspaceId } = useScope()
  const input = { botId, userId, pageSize: 10 }
  return useQuery(read({ workspaceId }, 'listWorkspaceConversations', input))
}

/** The author of a message: the bot, or a user through the integration of the conversation. */
export type Author = { role: 'bot' } | { role: 'user'; userId: string; integration: string }

/** Changes of conversations; each rejects with the refusal of the server. */
export function useConversationActions(botId: string) {
  const { workspaceId } = useScope()
  return {
    replay: async (deliveryId: string): Promise<void> => {
      await change({ workspaceId }, 'replayDelivery', { id: botId, deliveryId })
    },
    write: async (conversationId: string, author: Author, text: string): Promise<void> => {
      const message = { conversationId, type: 'text', payload: { text }, tags: {} }
      await (author.role === 'bot'
        ? change({ botId }, 'createMessage', { ...message, userId: botId })
        : change(
            { botId },
            'createMessage',
            { ...message, userId: author.userId },
            { headers: { 'x-integration-alias': author.integration } },
          ))
    },
  }
}

/** Path of the export of what matches, with its query. */
export function exportPath(filter: ConversationFilter, hasMessages: boolean): string {
  const { tags = {}, ...rest } = filter
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(rest)) query.set(name, String(value))
  if (hasMessages) query.set('messages', 'true')
  const ofTags = Object.entries(tags).map(
    ([name, value]) =>
      `tags.${encodeURIComponent(name).replaceAll('.', '%2E')}=${encodeURIComponent(value)}`,
  )
  const text = [query.toString(), ...ofTags].filter((part) => part !== '').join('&')
  return `/v1/admin/conversations/export${text && `?${text}`}`
}

interface Export {
  content: Blob
  conversations: number
}

/**
 * Reads an export to its end; calls `onBytes` with how much has come so far.
 * @throws Error when the connection broke before
 */
export function useExport() {
  const { workspaceId } = useScope()
  return async (
    path: string,
    onBytes: (bytes: number) => void,
    signal: AbortSignal,
  ): Promise<Export> => {
    const headers = headersOf({ workspaceId })
    const response = await fetchFromServer(serverUrl + path, { headers, signal })
    if (!response.ok) throw toApiError(response.status, await response.text())
    let bytes = 0
    const counter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        bytes += chunk.length
        onBytes(bytes)
        controller.enqueue(chunk)
      },
    })
    const content = await new Response(response.body?.pipeThrough(counter)).blob()
    const [, count] = /\{"kind":"end","conversations":(\d+)\}\s*$/.exec(
      await content.slice(-200).text(),
    ) ?? [undefined, undefined]
    if (count === undefined) throw new Error('The connection broke before the export was complete.')
    return { content, conversations: Number(count) }
  }
}
