import type { Static } from 'typebox'
import { toApiError } from './client.js'
import { readEventStream, type StreamEvent } from './event-stream.js'
import type { ChatEvent, ChatMessage } from './resources/chat/entities.js'

type Message = Static<typeof ChatMessage>

/** The data of a signal, by its type. */
export interface SignalData {
  message_created: Message & {
    /** Whether the bot wrote the message. */
    isBot: boolean
  }
  message_deleted: {
    id: string
    conversationId: string
    /** Author of the message. */
    userId: string
  }
  event_created: Omit<Static<typeof ChatEvent>, 'id'> & {
    /** `null` for events of the bot, which cannot be fetched. */
    id: string | null
    isBot: boolean
  }
  participant_added: { conversationId: string; participantId: string }
  participant_removed: { conversationId: string; participantId: string }
  /** A piece of a message that the bot is writing. */
  message_stream_delta: {
    streamId: string
    conversationId: string
    userId: string
    createdAt: string
    /** Position among the pieces of the message, as the bot counts them. */
    sequence: number
    delta: string
    clientMessageId?: string
  }
  /** The pieces are complete; `message_created` follows. */
  message_stream_complete: { streamId: string; message: Message }
  /** The bot discarded the message that it was writing. */
  message_stream_abort: { streamId: string; conversationId: string }
  /** Signals are missing that can no longer be sent: list the messages again. */
  reset: { conversationId: string }
}

/** A change in a conversation. Newer servers may send additional types: ignore them. */
export type Signal = {
  [Type in keyof SignalData]: {
    type: Type
    data: SignalData[Type]
    /** Position in the conversation; signals without one are not repeated after reconnecting. */
    sequence: number | undefined
  }
}[keyof SignalData]

/** The conversation to follow, and the user who follows it. */
export interface FollowOptions {
  /** Base URL of the server; a path and a trailing slash are allowed. */
  baseUrl: string
  /** Webhook id of the bot on chat addresses. */
  webhookId: string
  /** Value of `x-user-key`. */
  userKey: string
  conversationId: string
  /** Sequence number of the last signal received; the stream begins with the signals after it. */
  after?: number
  /** Ends the stream. */
  signal?: AbortSignal
  /** Sends the requests; the global `fetch` if omitted. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Called when the stream opens, and when the connection breaks and is to be reopened. */
  onConnection?: (state: 'open' | 'broken') => void
  /** First and maximum delay before reconnecting, in ms; jitter shortens each by up to half. */
  pauses?: { first: number; max: number }
  /** Milliseconds without data after which a connection counts as broken. */
  silence?: number
}

/**
 * Yields what happens in a conversation, in order and exactly once: reconnects when the connection
 * breaks, and continues after the last signal. Ends with the `signal` of the options.
 *
 * @throws ApiError when the server refuses, for example because the user is no longer a participant
 */
export async function* followConversation(options: FollowOptions): AsyncGenerator<Signal, void> {
  const { signal, onConnection, pauses = { first: 1000, max: 30_000 } } = options
  let last = options.after
  let pause = pauses.first
  while (!signal?.aborted) {
    try {
      const body = await open(options, last)
      if (body !== undefined) {
        pause = pauses.first
        onConnection?.('open')
        for await (const frame of readEventStream(body, options.silence)) {
          const next = toSignal(frame)
          if (next === undefined) continue
          if (next.sequence !== undefined) last = next.sequence
          yield next
        }
      }
    } catch (error) {
      if (signal?.aborted) return
      if (!isFailure(error)) throw error
    }
    if (signal?.aborted) return
    onConnection?.('broken')
    // Jitter: clients that lost the same server reconnect spread over time.
    await rest((pause * (1 + Math.random())) / 2, signal)
    pause = Math.min(pause * 2, pauses.max)
  }
}

/** Opens the stream; undefined if the server is temporarily unavailable. */
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

function toSignal({ id, data }: StreamEvent): Signal | undefined {
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
