import type {
  Configuration,
  Credentials,
  Payload,
  Profile,
  WidgetOptions,
} from '../shared/bridge.js'
import {
  type ChatApi,
  createChatApi,
  type Feedback,
  HttpError,
  type Init,
  type Message,
} from './api.js'
import { keepConnected } from './connection.js'
import { createOutbox, type Outbox } from './outbox.js'
import { parseConfiguration, parseMessage } from './parse.js'
import { createSignalHandler } from './signals.js'
import { createStore, type Store, upsert } from './state.js'
import { createStorage, type Identity, withLock } from './storage.js'

/** A chat: its state, and what the user or the page can do with it. */
export interface Session {
  store: Store
  api: ChatApi
  outbox: Outbox
  /** Starts a new conversation of the same user. */
  restart(): void
  openConversation(id: string): void
  /** Sets the feedback of a message, or removes it; undoes the change and rejects if the server refuses it. */
  rate(messageId: string, value: Feedback | undefined): Promise<void>
  /** These three wait until a conversation is open, and reject with the error of the server. */
  sendEvent(event: Record<string, unknown>): Promise<void>
  updateUser(profile: Profile): Promise<void>
  getUser(): Promise<Record<string, unknown>>
  /** Merges a configuration into the present one; another user gets a new conversation. */
  configure(configuration: Configuration, user?: Credentials): void
  /** Ends the connection and opens another immediately. */
  reconnect(): void
}

export function createSession(options: WidgetOptions, configuration: Configuration): Session {
  const { base, storageKey, emit } = options
  const store = createStore(configuration)
  const storage = createStorage(storageKey)
  let identity: Identity = storage.readIdentity()
  const { userToken } = options.user ?? {}
  /** Whether the page gave the key of its user. */
  let hasPageKey = Boolean(userToken)
  if (userToken) identity = { ...identity, user: { ...options.user } }
  let unsentProfile = options.profile
  /** Whether the stored key, and with it the conversation, was dropped because the server refused it. */
  let hasDroppedKey = false
  /** Conversations whose start this page reported to the bot. */
  const reported = new Set<string>()
  let markReady = () => {}
  const ready = new Promise<void>((resolve) => {
    markReady = resolve
  })

  const keyOf = () => identity.user?.userToken
  const api = createChatApi(base, keyOf)
  const outbox = createOutbox({
    store,
    storage,
    api,
    lock: `${storageKey}-outbox`,
    onSent: ({ payload }) => emit('messageSent', payload),
    onRefused: (error) => emit('error', error),
    onConversationGone: () => connection.reopen(),
  })

  /** Releases the lock of the first start, for which other tabs wait. */
  let release = () => {}
  /** Opens the stream. Of tabs that start at the same time, only one creates a user. */
  async function open(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const request = () =>
      api.initialize({ conversationId: identity.conversationId, userKey: keyOf(), signal })
    if (keyOf() !== undefined) return await request()
    return await new Promise((resolve, reject) => {
      withLock(`${storageKey}-start`, async (hasWaited) => {
        // A lock can reach this tab earlier than what the other tab stored.
        if (hasWaited) await storage.waitForUser()
        const stored = storage.readIdentity()
        if (stored.user !== undefined) identity = stored
        resolve(await request())
        if (keyOf() !== undefined) return
        await new Promise<void>((done) => {
          release = done
        })
      }).catch(reject)
    })
  }

  function applyInit(init: Init): void {
    const requested = identity.conversationId
    const { conversation, participants, user } = init
    identity = {
      conversationId: conversation.id,
      user: { userId: user.id, userToken: user.userKey },
    }
    storage.writeIdentity(identity)
    release()
    const isGone = requested !== undefined && requested !== conversation.id
    const isReplacement = isGone || hasDroppedKey
    hasDroppedKey = false
    const before = store.get()
    const messages = init.messages
      .toReversed()
      .flatMap((message) => parseMessage(message) ?? [])
      .reduce(upsert, [])
    store.set({
      connection: 'open',
      wasOpen: true,
      refusal: undefined,
      conversation,
      user,
      participants,
      messages,
      ...(isReplacement && { isReplacement }),
      ...(before.conversation?.id !== conversation.id && { newestAtOpen: messages.at(-1)?.id }),
      isTyping: false,
    })
    connection.confirm()
    if (before.conversation?.id === conversation.id) emitMissed(before.messages)
    outbox.rebase(isGone ? requested : undefined)
    outbox.flush()
    markReady()
    void reportStart(conversation.id)
    if (unsentProfile !== undefined) {
      const sent = unsentProfile
      unsentProfile = undefined
      api.updateUser(sent).catch(() => {
        // Sent again with the next connection.
        unsentProfile ??= sent
      })
    }
  }

  /** Treats messages that arrived without a connection like new ones: they are counted and reported to the page. */
  function emitMissed(before: readonly Message[]): void {
    const known = new Set(before.map(({ id }) => id))
    for (const message of store.get().messages) {
      if (!known.has(message.id)) handleSignal('message_created', { ...message })
    }
  }

  async function reportStart(conversationId: string): Promise<void> {
    if (reported.has(conversationId)) return
    reported.add(conversationId)
    try {
      const { event } = await api.sendEvent(conversationId, {
        type: 'conversation_started',
        data: {},
      })
      if (event.payload.data?.status?.isInitial) emit('conversation', conversationId)
    } catch {
      // Reported again with the next connection.
      reported.delete(conversationId)
    }
  }

  const handleSignal = createSignalHandler({
    store,
    outbox,
    options,
    configure: (given) => configure(given),
  })
  const connection = keepConnected({
    open,
    onSignal({ type, data }) {
      if (type === 'init') applyInit(data as Init)
      // An error before `init` is about a former conversation, which this chat replaces by itself.
      else if (store.get().connection === 'open') handleSignal(type, Object(data))
    },
    onState(state, error) {
      if (state !== 'connecting') release()
      if (dropUnknownKey(error)) return
      if (state === 'refused') {
        store.set({ connection: state, refusal: (error as Error).message })
        emit('error', error)
      } else if (state === 'waiting' || store.get().connection !== 'refused') {
        store.set({ connection: state, isTyping: false })
      }
    },
  })

  /** Starts again without the stored key if the server no longer knows it; returns whether it did. */
  function dropUnknownKey(error: unknown): boolean {
    const isUnknown = error instanceof HttpError && error.status === 401
    if (!isUnknown || hasPageKey || keyOf() === undefined) return false
    switchTo({})
    hasDroppedKey = true
    return true
  }

  function switchTo(next: Identity): void {
    identity = next
    storage.writeIdentity(next)
    store.set({
      conversation: undefined,
      isReplacement: false,
      messages: [],
      outgoing: [],
      isTyping: false,
    })
    connection.reopen()
  }

  function changeUser(userToken: string): void {
    hasPageKey = true
    outbox.clear()
    switchTo({ user: { userToken } })
  }

  function configure(given: Configuration, user?: Credentials): void {
    store.set({ configuration: { ...store.get().configuration, ...parseConfiguration(given) } })
    options.updateAppearance(store.get().configuration)
    if (user?.userToken && user.userToken !== keyOf()) changeUser(user.userToken)
  }

  return {
    store,
    api,
    outbox,
    configure,
    reconnect: () => connection.reopen(),
    restart: () => switchTo({ user: identity.user }),
    openConversation: (conversationId) => switchTo({ user: identity.user, conversationId }),
    async rate(messageId, value) {
      const change = (feedback: Feedback | undefined) =>
        store.set({
          messages: store.get().messages.map((message) => {
            if (message.id !== messageId) return message
            const { feedback: _, ...rest } = message
            return feedback === undefined ? rest : { ...rest, feedback: { value: feedback } }
          }),
        })
      const before = store.get().messages.find(({ id }) => id === messageId)?.feedback?.value
      change(value)
      try {
        await api.rate(messageId, value)
      } catch (error) {
        change(before)
        throw error
      }
    },
    async sendEvent(event) {
      await ready
      const id = store.get().conversation?.id
      if (id !== undefined) await api.sendEvent(id, { type: 'custom', data: event } as Payload)
    },
    async updateUser({ userKey, ...given }) {
      if (userKey && userKey !== keyOf()) changeUser(userKey)
      await ready
      if (Object.keys(given).length > 0) await api.updateUser(given)
    },
    async getUser() {
      await ready
      return (await api.getUser()).user
    },
  }
}
