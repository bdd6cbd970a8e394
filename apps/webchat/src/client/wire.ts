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
  metadata?: Record<string, unknown>
  feedback?: { value: Feedback }
}

export type Feedback = 'positive' | 'negative'

/** What the first frame of a stream says: everything that is there. */
export interface Init {
  conversation: Conversation
  /** Newest first. */
  messages: Message[]
  participants: User[]
  user: User & { userKey: string }
}

interface FileAnswer {
  file: { id: string; url: string; uploadUrl: string; contentType: string }
}

/** A refusal of the server, with what it said. */
export class Refusal extends Error {
  readonly status: number
  /** Milliseconds that the server asks to wait; 0 if it does not say. */
  readonly retryAfter: number

  constructor(status: number, message: string, retryAfter: number) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
  }
}

/** Whether a repetition can help: no connection, too many requests, or a fault of the server. */
export function isPassing(error: unknown): boolean {
  return !(error instanceof Refusal) || error.status === 429 || error.status >= 500
}

/** The calls of the chat, each one request. */
export interface Wire {
  /** Opens the stream of a conversation, or of a new one. */
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
  sendEvent(conversationId: string, payload: Payload): Promise<EventAnswer>
  listConversations(nextToken?: string): Promise<ConversationPage>
  getUser(): Promise<{ user: Record<string, unknown> }>
  updateUser(profile: Profile): Promise<{ user: Record<string, unknown> }>
  rate(messageId: string, value: Feedback | undefined): Promise<void>
  announceFile(file: File, conversationId: string): Promise<FileAnswer>
}

interface EventAnswer {
  event: { payload: { data?: { status?: { isInitial?: boolean } } } }
}

interface ConversationPage {
  conversations: Conversation[]
  meta?: { nextToken?: string }
}

const fileLifetime = 30 * 24 * 3600 * 1000

/** @param keyOf the key of the user, once there is one */
export function createWire(base: string, keyOf: () => string | undefined): Wire {
  async function call<Answer>(method: string, path: string, body?: unknown, headers = {}) {
    const key = keyOf()
    const response = await fetch(`${base}${path}`, {
      method,
      // The key says who calls. Cookies of the same host are none of the chat's business.
      credentials: 'omit',
      headers: {
        ...(key !== undefined && { 'x-user-key': key }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw await toRefusal(response)
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
      if (!response.ok || response.body === null) throw await toRefusal(response)
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
        expiresAt: new Date(Date.now() + fileLifetime).toISOString(),
        ...(file.type && { contentType: file.type }),
      }),
  }
}

async function toRefusal(response: Response): Promise<Refusal> {
  const { message } = await response.json().catch(() => ({}))
  const text = typeof message === 'string' ? message : `${response.status}`
  const seconds = Number(response.headers.get('retry-after') ?? 0)
  return new Refusal(response.status, text, Number.isFinite(seconds) ? seconds * 1000 : 0)
}

/** Sends the content of a file. `fetch` tells no progress of what it sends. */
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
      else reject(new Refusal(request.status, `${request.status}`, 0))
    })
    request.addEventListener('error', () => reject(new TypeError('The upload broke off')))
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
