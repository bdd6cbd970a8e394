import type {
  Configuration,
  Credentials,
  Payload,
  Profile,
  WidgetOptions,
} from '../shared/bridge.js'
import { keepConnected } from './connection.js'
import { createOutbox, type Outbox } from './outbox.js'
import { readConfiguration, readMessage } from './read.js'
import { createSignals } from './signals.js'
import { createStore, type Store, upsert } from './state.js'
import { alone, createStorage, type Identity } from './storage.js'
import { createWire, type Feedback, type Init, type Message, Refusal, type Wire } from './wire.js'

/** A chat: what it shows, and what a person or the page does with it. */
export interface Session {
  store: Store
  wire: Wire
  outbox: Outbox
  /** Begins a new conversation of the same user. */
  restart(): void
  openConversation(id: string): void
  rate(messageId: string, value: Feedback | undefined): Promise<void>
  sendEvent(event: Record<string, unknown>): Promise<void>
  updateUser(profile: Profile): Promise<void>
  getUser(): Promise<Record<string, unknown>>
  /** Merges what the page sets; another user gets a conversation of their own. */
  configure(configuration: Configuration, user?: Credentials): void
  reconnect(): void
}

export function createSession(options: WidgetOptions, configuration: Configuration): Session {
  const { base, storageKey, emit } = options
  const store = createStore(configuration)
  const storage = createStorage(storageKey)
  let identity: Identity = storage.readIdentity()
  const { userToken } = options.user ?? {}
  /** Whether the page says who the user is. */
  let hasOwnKey = Boolean(userToken)
  if (userToken) identity = { ...identity, user: { ...options.user } }
  let profile = options.profile
  /** Conversations of which the bot was told by this page. */
  const begun = new Set<string>()
  let markReady = () => {}
  const ready = new Promise<void>((resolve) => {
    markReady = resolve
  })

  const keyOf = () => identity.user?.userToken
  const wire = createWire(base, keyOf)
  const outbox = createOutbox({
    store,
    storage,
    wire,
    lock: `${storageKey}-outbox`,
    onSent: ({ payload }) => emit('messageSent', payload),
    onGone: () => connection.reopen(),
  })

  /** Lets the next tab begin, which waits until the user is known. */
  let release = () => {}
  /** Asks for the stream; of tabs that begin at the same time only one makes a new user. */
  async function open(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const request = () =>
      wire.initialize({ conversationId: identity.conversationId, userKey: keyOf(), signal })
    if (keyOf() !== undefined) return await request()
    return await new Promise((resolve, reject) => {
      alone(`${storageKey}-start`, async (isLater) => {
        // Locks are faster than what is stored.
        if (isLater) await storage.untilIdentified()
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

  function begin(init: Init): void {
    const asked = identity.conversationId
    const { conversation, participants, user } = init
    identity = {
      conversationId: conversation.id,
      user: { userId: user.id, userToken: user.userKey },
    }
    storage.writeIdentity(identity)
    release()
    const before = store.get()
    const messages = init.messages
      .toReversed()
      .flatMap((message) => readMessage(message) ?? [])
      .reduce(upsert, [])
    store.set({
      connection: 'open',
      wasOpen: true,
      refusal: undefined,
      conversation,
      user,
      participants,
      messages,
      ...(before.conversation?.id !== conversation.id && { newestAtOpen: messages.at(-1)?.id }),
      isTyping: false,
    })
    connection.confirm()
    if (before.conversation?.id === conversation.id) hearMissed(before.messages)
    outbox.begin(asked === conversation.id ? undefined : asked)
    outbox.flush()
    markReady()
    void tellBot(conversation.id)
    if (profile !== undefined) {
      const told = profile
      profile = undefined
      wire.updateUser(told).catch(() => {
        profile ??= told
      })
    }
  }

  /** Messages that came while there was no connection are as new as others. */
  function hearMissed(before: readonly Message[]): void {
    const known = new Set(before.map(({ id }) => id))
    for (const message of store.get().messages) {
      if (!known.has(message.id)) receive('message_created', { ...message })
    }
  }

  async function tellBot(conversationId: string): Promise<void> {
    if (begun.has(conversationId)) return
    begun.add(conversationId)
    try {
      const { event } = await wire.sendEvent(conversationId, {
        type: 'conversation_started',
        data: {},
      })
      if (event.payload.data?.status?.isInitial) emit('conversation', conversationId)
    } catch {
      // Told again after the next connection.
      begun.delete(conversationId)
    }
  }

  const receive = createSignals({ store, outbox, options, configure: (given) => configure(given) })
  const connection = keepConnected({
    open,
    onFrame({ type, data }) {
      if (type === 'init') begin(data as Init)
      else receive(type, Object(data))
    },
    onState(state, error) {
      if (state !== 'connecting') release()
      if (forgetsKey(error)) return
      if (state === 'refused') {
        store.set({ connection: state, refusal: (error as Error).message })
        emit('error', error)
      } else if (state === 'waiting' || store.get().connection !== 'refused') {
        store.set({ connection: state, isTyping: false })
      }
    },
  })

  /** A key that the browser kept and the server no longer knows: begins anew, once, without it. */
  function forgetsKey(error: unknown): boolean {
    const isUnknown = error instanceof Refusal && error.status === 401
    if (!isUnknown || hasOwnKey || keyOf() === undefined) return false
    use({})
    return true
  }

  function use(next: Identity): void {
    identity = next
    storage.writeIdentity(next)
    store.set({ conversation: undefined, messages: [], outgoing: [], isTyping: false })
    connection.reopen()
  }

  function changeUser(userToken: string): void {
    hasOwnKey = true
    outbox.clear()
    use({ user: { userToken } })
  }

  function configure(given: Configuration, user?: Credentials): void {
    store.set({ configuration: { ...store.get().configuration, ...readConfiguration(given) } })
    options.restyle(store.get().configuration)
    if (user?.userToken && user.userToken !== keyOf()) changeUser(user.userToken)
  }

  return {
    store,
    wire,
    outbox,
    configure,
    reconnect: () => connection.reopen(),
    restart: () => use({ user: identity.user }),
    openConversation: (conversationId) => use({ user: identity.user, conversationId }),
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
        await wire.rate(messageId, value)
      } catch (error) {
        change(before)
        throw error
      }
    },
    async sendEvent(event) {
      await ready
      const id = store.get().conversation?.id
      if (id !== undefined) await wire.sendEvent(id, { type: 'custom', data: event } as Payload)
    },
    async updateUser({ userKey, ...given }) {
      if (userKey && userKey !== keyOf()) changeUser(userKey)
      await ready
      if (Object.keys(given).length > 0) await wire.updateUser(given)
    },
    async getUser() {
      await ready
      return (await wire.getUser()).user
    },
  }
}
