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
import { type Connection, keepConnected } from './connection.js'
import { createOutbox, type Outbox } from './outbox.js'
import { parseConfiguration, parseMessage } from './parse.js'
import { createSignalHandler } from './signals.js'
import { createStore, type Store, upsert } from './state.js'
import { type ChatStorage, createStorage, type Identity, withLock } from './storage.js'

/** A chat: its state, and what the user or the page can do with it. */
export class Session {
  readonly store: Store
  readonly api: ChatApi
  readonly outbox: Outbox
  readonly #options: WidgetOptions
  readonly #storage: ChatStorage
  readonly #connection: Connection
  readonly #handleSignal: ReturnType<typeof createSignalHandler>
  #identity: Identity
  /** Whether the page gave the key of its user. */
  #hasPageKey = false
  #unsentProfile: Profile | undefined
  /** Whether the stored key, and with it the conversation, was dropped because the server refused it. */
  #hasDroppedKey = false
  /** Conversations whose start this page reported to the bot. */
  readonly #reported = new Set<string>()
  #markReady = () => {}
  readonly #ready = new Promise<void>((resolve) => {
    this.#markReady = resolve
  })
  /** Releases the lock of the first start, for which other tabs wait. */
  #release = () => {}

  constructor(options: WidgetOptions, configuration: Configuration) {
    const { storageKey, emit, user, profile } = options
    const store = createStore(configuration)
    const storage = createStorage(storageKey)
    const api = createChatApi(options.base, () => this.#key)
    this.store = store
    this.api = api
    this.#options = options
    this.#storage = storage
    this.#identity = storage.readIdentity()
    if (user?.userToken) {
      this.#hasPageKey = true
      this.#identity = { ...this.#identity, user: { ...user } }
    }
    this.#unsentProfile = profile
    this.outbox = createOutbox({
      store,
      storage,
      api,
      lock: `${storageKey}-outbox`,
      onSent: ({ payload }) => emit('messageSent', payload),
      onRefused: (error) => emit('error', error),
      onConversationGone: () => this.reconnect(),
    })
    this.#handleSignal = createSignalHandler({
      store,
      outbox: this.outbox,
      options,
      configure: (given) => this.configure(given),
    })
    this.#connection = keepConnected({
      open: (signal) => this.#open(signal),
      onSignal: ({ type, data }) => {
        if (type === 'init') this.#applyInit(data as Init)
        // An error before `init` is about a former conversation, which this chat replaces by itself.
        else if (store.get().connection === 'open') this.#handleSignal(type, Object(data))
      },
      onState: (state, error) => {
        if (state !== 'connecting') this.#release()
        if (this.#dropUnknownKey(error)) return
        if (state === 'refused') {
          store.set({ connection: state, refusal: (error as Error).message })
          emit('error', error)
        } else if (state === 'waiting' || store.get().connection !== 'refused') {
          store.set({ connection: state, isTyping: false })
        }
      },
    })
  }

  /** Ends the connection and opens another immediately. */
  reconnect(): void {
    this.#connection.reopen()
  }

  /** Starts a new conversation of the same user. */
  restart(): void {
    this.#switchTo({ user: this.#identity.user })
  }

  openConversation(conversationId: string): void {
    this.#switchTo({ user: this.#identity.user, conversationId })
  }

  /** Sets the feedback of a message, or removes it; undoes the change and rejects if the server refuses it. */
  async rate(messageId: string, value: Feedback | undefined): Promise<void> {
    const { store } = this
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
      await this.api.rate(messageId, value)
    } catch (error) {
      change(before)
      throw error
    }
  }

  // The next three wait until a conversation is open, and reject with the error of the server.

  async sendEvent(event: Record<string, unknown>): Promise<void> {
    await this.#ready
    const id = this.store.get().conversation?.id
    if (id !== undefined) await this.api.sendEvent(id, { type: 'custom', data: event } as Payload)
  }

  async updateUser({ userKey, ...given }: Profile): Promise<void> {
    if (userKey && userKey !== this.#key) this.#changeUser(userKey)
    await this.#ready
    if (Object.keys(given).length > 0) await this.api.updateUser(given)
  }

  async getUser(): Promise<Record<string, unknown>> {
    await this.#ready
    return (await this.api.getUser()).user
  }

  /** Merges a configuration into the present one; another user gets a new conversation. */
  configure(given: Configuration, user?: Credentials): void {
    const { store } = this
    store.set({ configuration: { ...store.get().configuration, ...parseConfiguration(given) } })
    this.#options.updateAppearance(store.get().configuration)
    if (user?.userToken && user.userToken !== this.#key) this.#changeUser(user.userToken)
  }

  get #key(): string | undefined {
    return this.#identity.user?.userToken
  }

  /** Opens the stream. Of tabs that start at the same time, only one creates a user. */
  async #open(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const request = () =>
      this.api.initialize({
        conversationId: this.#identity.conversationId,
        userKey: this.#key,
        signal,
      })
    if (this.#key !== undefined) return await request()
    return await new Promise((resolve, reject) => {
      withLock(`${this.#options.storageKey}-start`, async (hasWaited) => {
        // A lock can reach this tab earlier than what the other tab stored.
        if (hasWaited) await this.#storage.waitForUser()
        const stored = this.#storage.readIdentity()
        if (stored.user !== undefined) this.#identity = stored
        resolve(await request())
        if (this.#key !== undefined) return
        await new Promise<void>((done) => {
          this.#release = done
        })
      }).catch(reject)
    })
  }

  #applyInit(init: Init): void {
    const { store, outbox } = this
    const requested = this.#identity.conversationId
    const { conversation, participants, user } = init
    this.#identity = {
      conversationId: conversation.id,
      user: { userId: user.id, userToken: user.userKey },
    }
    this.#storage.writeIdentity(this.#identity)
    this.#release()
    const isGone = requested !== undefined && requested !== conversation.id
    const isReplacement = isGone || this.#hasDroppedKey
    this.#hasDroppedKey = false
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
    this.#connection.confirm()
    if (before.conversation?.id === conversation.id) this.#emitMissed(before.messages)
    outbox.rebase(isGone ? requested : undefined)
    outbox.flush()
    this.#markReady()
    void this.#reportStart(conversation.id)
    this.#sendProfile()
  }

  #sendProfile(): void {
    const sent = this.#unsentProfile
    if (sent === undefined) return
    this.#unsentProfile = undefined
    this.api.updateUser(sent).catch(() => {
      // Sent again with the next connection.
      this.#unsentProfile ??= sent
    })
  }

  /** Treats messages that arrived without a connection like new ones: they are counted and reported to the page. */
  #emitMissed(before: readonly Message[]): void {
    const known = new Set(before.map(({ id }) => id))
    for (const message of this.store.get().messages) {
      if (!known.has(message.id)) this.#handleSignal('message_created', { ...message })
    }
  }

  async #reportStart(conversationId: string): Promise<void> {
    if (this.#reported.has(conversationId)) return
    this.#reported.add(conversationId)
    try {
      const { event } = await this.api.sendEvent(conversationId, {
        type: 'conversation_started',
        data: {},
      })
      if (event.payload.data?.status?.isInitial) {
        this.#options.emit('conversation', conversationId)
      }
    } catch {
      // Reported again with the next connection.
      this.#reported.delete(conversationId)
    }
  }

  /** Starts again without the stored key if the server no longer knows it; returns whether it did. */
  #dropUnknownKey(error: unknown): boolean {
    const isUnknown = error instanceof HttpError && error.status === 401
    if (!isUnknown || this.#hasPageKey || this.#key === undefined) return false
    this.#switchTo({})
    this.#hasDroppedKey = true
    return true
  }

  #switchTo(next: Identity): void {
    this.#identity = next
    this.#storage.writeIdentity(next)
    this.store.set({
      conversation: undefined,
      isReplacement: false,
      messages: [],
      outgoing: [],
      isTyping: false,
    })
    this.reconnect()
  }

  #changeUser(userToken: string): void {
    this.#hasPageKey = true
    this.outbox.clear()
    this.#switchTo({ user: { userToken } })
  }
}
