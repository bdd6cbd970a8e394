import { messageForPeople } from '@botstead/contract/error-text'
import type { Payload, Profile } from '../shared/bridge.js'

export interface User {
  id: string
  name?: string
  pictureUrl?: string
}

export interface Conversation {
  id: string
  updatedAt?: string
  lastMessage?: { payload?: Payload; createdAt?: string }
}

export interface Message {
  id: string
  createdAt: string
  conversationId: string
  userId: string
  payload: Payload
  /** False for messages of users; undefined where the server does not say. */
  fromBot?: boolean
  metadata?: Record<string, unknown>
  feedback?: { value: Feedback }
}

export type Feedback = 'positive' | 'negative'

/** The first signal of a stream: the state of the conversation. */
export interface Init {
  conversation: Conversation
  /** Newest first, at most 100. */
  messages: Message[]
  participants: User[]
  user: User & { userKey: string }
}

interface AnnouncedFile {
  file: { id: string; url: string; uploadUrl: string; contentType: string }
}

/** An error response of the server, with its message. */
export class HttpError extends Error {
  readonly status: number
  /** Such as `Forbidden`. */
  readonly type: unknown
  /** Milliseconds to wait before a repetition, from the header `Retry-After`; 0 without one. */
  readonly retryAfter: number

  constructor(status: number, message: string, retryAfter: number, type?: unknown) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
    this.type = type
  }
}

/** Whether the same request may succeed later: no connection, too many requests, or a fault of the server. */
export function isRetryable(error: unknown): boolean {
  return !(error instanceof HttpError) || error.status === 429 || error.status >= 500
}

/** The operations of the server that the chat uses. All throw {@link HttpError}; without a connection, `TypeError`. */
export interface ChatApi {
  /** Opens the stream of a conversation; of a new one without an id. */
  initialize(given: {
    conversationId: string | undefined
    userKey: string | undefined
    signal: AbortSignal
  }): Promise<ReadableStream<Uint8Array>>
  sendMessage(message: {
    conversationId: string
    payload: Payload
    clientMessageId: string
  }): Promise<void>
  sendEvent(conversationId: string, payload: Payload): Promise<CreatedEvent>
  listConversations(nextToken?: string): Promise<ConversationPage>
  getUser(): Promise<{ user: Record<string, unknown> }>
  updateUser(profile: Profile): Promise<{ user: Record<string, unknown> }>
  rate(messageId: string, value: Feedback | undefined): Promise<void>
  /** Creates a file of a conversation; its content follows, see {@link upload}. */
  announceFile(file: File, conversationId: string): Promise<AnnouncedFile>
}

interface CreatedEvent {
  event: { payload: { data?: { status?: { isInitial?: boolean } } } }
}

interface ConversationPage {
  conversations: Conversation[]
  meta?: { nextToken?: string }
}

/** Milliseconds; servers that keep files with their conversation ignore it. */
const fileLifetimeMs = 30 * 24 * 3600 * 1000

/**
 * @param base address of the chat, with a slash at the end
 * @param keyOf returns the key of the user, once there is one
 */
export function createChatApi(base: string, keyOf: () => string | undefined): ChatApi {
  async function call<Answer>(method: string, path: string, body?: unknown, headers = {}) {
    const key = keyOf()
    const response = await fetch(`${base}${path}`, {
      method,
      // The key authenticates the call; cookies of the host must not be sent along.
      credentials: 'omit',
      headers: {
        ...(key !== undefined && { 'x-user-key': key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw await toHttpError(response)
    return (await response.json()) as Answer
  }

  return {
    async initialize({ conversationId, userKey, signal }) {
      const query = conversationId ? `?conversationId=${encodeURIComponent(conversationId)}` : ''
      const response = await fetch(`${base}initialize${query}`, {
        credentials: 'omit',
        cache: 'no-store',
        headers: { accept: 'text/event-stream', ...(userKey && { 'x-user-key': userKey }) },
        signal,
      })
      if (!response.ok || response.body === null) throw await toHttpError(response)
      return response.body
    },

    async sendMessage({ conversationId, payload, clientMessageId }) {
      const body = { conversationId, payload, metadata: { clientMessageId } }
      await call('POST', 'messages', body, { 'idempotency-key': clientMessageId })
    },

    sendEvent: async (conversationId, payload) =>
      await call('POST', 'events', {
        conversationId,
        payload,
        bindConversation: true,
        bindUser: true,
      }),

    listConversations: async (nextToken) =>
      await call(
        'GET',
        `conversations${nextToken ? `?nextToken=${encodeURIComponent(nextToken)}` : ''}`,
      ),

    getUser: async () => await call('GET', 'users/me'),

    updateUser: async ({ name, pictureUrl, data }) =>
      await call('PUT', 'users/me', { name, pictureUrl, userData: data }),

    async rate(messageId, value) {
      const path = `messages/${encodeURIComponent(messageId)}/feedback`
      if (value === undefined) await call('DELETE', path)
      else await call('PUT', path, { value })
    },

    announceFile: async (file, conversationId) =>
      await call('POST', 'files', {
        key: `${newId().slice(0, 6)}-${file.name}`,
        size: file.size,
        accessPolicies: ['public_content'],
        index: false,
        tags: { source: 'integration', integrationName: 'webchat', conversation: conversationId },
        expiresAt: new Date(Date.now() + fileLifetimeMs).toISOString(),
        ...(file.type && { contentType: file.type }),
      }),
  }
}

async function toHttpError(response: Response): Promise<HttpError> {
  const { message, type } = await response.json().catch(() => ({}))
  const text = typeof message === 'string' ? messageForPeople(message) : `${response.status}`
  const seconds = Number(response.headers.get('retry-after') ?? 0)
  const retryAfter = Number.isFinite(seconds) ? seconds * 1000 : 0
  return new HttpError(response.status, text, retryAfter, type)
}

/**
 * Uploads the content of a file, with `XMLHttpRequest` because `fetch` reports no progress of an upload.
 * @param onProgress receives the uploaded share, from 0 to 1
 */
export function upload(
  file: File,
  to: { url: string; contentType: string },
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('PUT', to.url)
    request.setRequestHeader('content-type', to.contentType)
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(loaded / total))
    request.addEventListener('load', () => {
      if (request.status >= 200 && request.status < 300) resolve()
      else reject(new HttpError(request.status, `${request.status}`, 0))
    })
    request.addEventListener('error', () =>
      reject(new TypeError('The connection was lost during the upload')),
    )
    request.addEventListener('abort', () => reject(new DOMException('', 'AbortError')))
    signal.addEventListener('abort', () => request.abort())
    request.send(file)
  })
}

/** A random id; `crypto.randomUUID` is missing on pages without https. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
