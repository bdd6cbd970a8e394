import type { Payload } from '../shared/bridge.js'
import { type ChatApi, HttpError, isRetryable, newId } from './api.js'
import { createBackoff } from './backoff.js'
import { clientIdOf, type Outgoing, type Store } from './state.js'
import { type ChatStorage, type Unsent, withLock } from './storage.js'

export interface OutboxOptions {
  store: Store
  storage: ChatStorage
  api: Pick<ChatApi, 'sendMessage'>
  /** Name of the lock that lets one tab at a time send. */
  lock: string
  onSent(message: Unsent): void
  /** Called with the error when the server refuses a message. */
  onRefused(error: unknown): void
  /** Called when the server refuses a message because its conversation is gone. */
  onConversationGone(): void
}

/** Messages that the server has not confirmed: they survive lost connections and reloads, and are sent in order, each once. */
export interface Outbox {
  add(payload: Payload): void
  /** Sends the waiting messages; called whenever a connection opens. */
  flush(): void
  /** Stops showing messages that have arrived in the conversation as unsent. */
  reconcile(): void
  /**
   * Drops messages that a new connection shows as stored, and moves those of a conversation that is gone to the
   * present one. To be called after the state of the conversation is set.
   */
  rebase(goneConversation: string | undefined): void
  /** Sends a refused message again. */
  retry(clientMessageId: string): void
  /** Removes a refused message. */
  discard(clientMessageId: string): void
  /** Removes all messages. */
  clear(): void
}

export function createOutbox(options: OutboxOptions): Outbox {
  const { store, storage, api, lock } = options
  /** Messages that the server refused: shown with the reason until the user retries or discards them. */
  let refused: Outgoing[] = []
  /** Messages that were moved to another conversation once; the next refusal of one is final. */
  const moved = new Set<string>()
  let nextSequence = 0
  const backoff = createBackoff()
  let timer: ReturnType<typeof setTimeout> | undefined

  const publish = () => {
    const { conversation, messages, outgoing } = store.get()
    const arrived = new Set(messages.map(clientIdOf))
    const waiting = [...refused, ...storage.readUnsent()]
    const ids = new Set(waiting.map(({ clientMessageId }) => clientMessageId))
    // A sent message stays visible until the stream brings it, which can be later than the response.
    const isSent = ({ clientMessageId, refusal }: Outgoing) =>
      refusal === undefined && !ids.has(clientMessageId)
    store.set({
      outgoing: [...outgoing.filter(isSent), ...waiting].filter(
        ({ conversationId, clientMessageId }) =>
          (conversationId === '' || conversationId === conversation?.id) &&
          !arrived.has(clientMessageId),
      ),
    })
  }

  /** Sends one message and returns whether the next one may follow. */
  async function send(message: Unsent): Promise<boolean> {
    const { clientMessageId } = message
    try {
      await api.sendMessage(message)
    } catch (error) {
      if (isRetryable(error)) {
        const retryAfter = error instanceof HttpError ? error.retryAfter : 0
        timer = setTimeout(flush, backoff.next(retryAfter))
        return false
      }
      // Other errors are retryable.
      const { status, type, message: reason } = error as HttpError
      const isFull = type === 'QuotaExceeded'
      if (!isFull && [403, 404].includes(status) && !moved.has(clientMessageId)) {
        moved.add(clientMessageId)
        options.onConversationGone()
        return false
      }
      refused = [...refused, { ...message, refusal: isFull ? '' : reason }]
      storage.dropUnsent(clientMessageId)
      publish()
      options.onRefused(error)
      return true
    }
    backoff.reset()
    storage.dropUnsent(clientMessageId)
    publish()
    options.onSent(message)
    return true
  }

  async function sendAll(): Promise<void> {
    for (;;) {
      if (store.get().connection !== 'open') return
      const [first] = storage.readUnsent()
      if (first === undefined || !(await send(first))) return
    }
  }

  let isSending = false
  let isRequested = false
  function flush(): void {
    clearTimeout(timer)
    isRequested = true
    if (isSending) return
    isSending = true
    const work = async () => {
      while (isRequested) {
        isRequested = false
        await withLock(lock, sendAll)
      }
    }
    void work().finally(() => {
      isSending = false
    })
  }

  // Another tab has added or sent a message.
  storage.onUnsentChange(publish)
  publish()
  return {
    add(payload) {
      const message: Unsent = {
        clientMessageId: newId(),
        conversationId: store.get().conversation?.id ?? '',
        payload,
        createdAt: new Date().toISOString(),
        sequence: nextSequence++,
      }
      storage.putUnsent(message)
      store.set({ isReplacement: false })
      publish()
      flush()
    },
    flush,
    reconcile() {
      if (store.get().outgoing.length > 0) publish()
    },
    rebase(goneConversation) {
      const { conversation, messages } = store.get()
      const arrived = new Set(messages.map(clientIdOf))
      for (const message of storage.readUnsent()) {
        const { clientMessageId, conversationId } = message
        if (arrived.has(clientMessageId)) storage.dropUnsent(clientMessageId)
        else if (conversation && (conversationId === '' || conversationId === goneConversation)) {
          storage.putUnsent({ ...message, conversationId: conversation.id })
        }
      }
      store.set({ outgoing: [] })
      publish()
    },
    retry(id) {
      const message = refused.find(({ clientMessageId }) => clientMessageId === id)
      refused = refused.filter((each) => each !== message)
      if (message !== undefined) {
        const { refusal: _, ...unsent } = message
        storage.putUnsent(unsent)
      }
      publish()
      flush()
    },
    discard(id) {
      refused = refused.filter(({ clientMessageId }) => clientMessageId !== id)
      publish()
    },
    clear() {
      refused = []
      for (const { clientMessageId } of storage.readUnsent()) storage.dropUnsent(clientMessageId)
      store.set({ outgoing: [] })
      publish()
    },
  }
}
