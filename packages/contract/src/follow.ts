import { toApiError } from './client.js'
import { readFrames } from './frames.js'
import type { Signal } from './signals.js'

/** Which conversation is followed, and as whom. */
export interface FollowOptions {
  /** Base address of the server; a path and a trailing slash are fine. */
  baseUrl: string
  /** Names the bot on chat addresses. */
  webhookId: string
  /** Value of `x-user-key`. */
  userKey: string
  conversationId: string
  /** Number of the last signal that is known: what came after it is told first. */
  after?: number
  /** Ends the stream. */
  signal?: AbortSignal
  /** Sends the requests; the global `fetch` when left out. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Told when the stream is open, and when the connection broke and is to be made again. */
  onConnection?: (state: 'open' | 'broken') => void
  /** First and longest pause before connecting again, in milliseconds; up to half of each is left out. */
  pauses?: { first: number; longest: number }
  /** Milliseconds after which a connection that says nothing counts as broken. */
  silence?: number
}

/**
 * Tells what happens in a conversation, in order and once: a connection that breaks is made again and
 * goes on after the last signal. Ends with the `signal` of the options.
 *
 * @throws ApiError when the server refuses, for example because the user takes no part any more
 */
export async function* followConversation(options: FollowOptions): AsyncGenerator<Signal, void> {
  const { signal, onConnection, pauses = { first: 1000, longest: 30_000 } } = options
  let last = options.after
  let pause = pauses.first
  while (!signal?.aborted) {
    try {
      const body = await open(options, last)
      if (body !== undefined) {
        pause = pauses.first
        onConnection?.('open')
        for await (const frame of readFrames(body, options.silence ?? 60_000)) {
          const told = toSignal(frame)
          if (told === undefined) continue
          if (told.sequence !== undefined) last = told.sequence
          yield told
        }
      }
    } catch (error) {
      if (signal?.aborted) return
      if (!isFailure(error)) throw error
    }
    if (signal?.aborted) return
    onConnection?.('broken')
    // Not all at once: those who lost the same server come back spread over time.
    await rest((pause * (1 + Math.random())) / 2, signal)
    pause = Math.min(pause * 2, pauses.longest)
  }
}

/** Opens the stream; undefined when the server cannot serve it at the moment. */
async function open(
  options: FollowOptions,
  last: number | undefined,
): Promise<ReadableStream<Uint8Array> | undefined> {
  const { baseUrl, webhookId, userKey, conversationId, signal } = options
  const path = `/chat/${webhookId}/conversations/${encodeURIComponent(conversationId)}/listen`
  const query = last === undefined ? '' : `?lastEventId=${last}`
  const response = await (options.fetch ?? fetch)(`${baseUrl.replace(/\/+$/, '')}${path}${query}`, {
    headers: { accept: 'text/event-stream', 'x-user-key': userKey },
    ...(signal && { signal }),
  })
  if (response.ok) return response.body ?? undefined
  const text = await response.text()
  if (response.status === 429 || response.status >= 500) return undefined
  throw toApiError(response.status, text)
}

/** Whether the connection failed: `fetch` and streams reject with errors of these kinds. */
function isFailure(error: unknown): boolean {
  return error instanceof TypeError || error instanceof DOMException
}

function toSignal({ id, data }: { id: string | undefined; data: string }): Signal | undefined {
  if (!data.startsWith('{')) return undefined
  const { type, data: content } = JSON.parse(data)
  return { type, data: content, sequence: id === undefined ? undefined : Number(id) }
}

function rest(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal?.addEventListener('abort', end)
  })
}
