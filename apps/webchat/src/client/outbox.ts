import type { Payload } from '../shared/bridge.js'
import { clientIdOf, type Outgoing, type Store } from './state.js'
import { alone, type ChatStorage, type Unsent } from './storage.js'
import { isPassing, newId, Refusal, type Wire } from './wire.js'

export interface OutboxOptions {
  store: Store
  storage: ChatStorage
  wire: Pick<Wire, 'sendMessage'>
  /** Name of the lock that lets one tab at a time send. */
  lock: string
  onSent(message: Unsent): void
  /** The conversation of a message is gone: asks for another one. */
  onGone(): void
}

/** Messages that the server has not confirmed: kept over breaks and reloads, and sent in order, each once. */
export interface Outbox {
  add(payload: Payload): void
  /** Sends what waits; called whenever a connection opens. */
  flush(): void
  /** Forgets what has arrived. */
  reconcile(): void
  /** Takes over the messages of a new connection, and moves what was meant for a conversation that is gone. */
  begin(goneConversation: string | undefined): void
  retry(clientMessageId: string): void
  discard(clientMessageId: string): void
  clear(): void
}

const shortestPause = 1000
const longestPause = 30_000

export function createOutbox(options: OutboxOptions): Outbox {
  const { store, storage, wire, lock } = options
  /** What the server refused: shown with the reason until a person decides. */
  let refused: Outgoing[] = []
  /** Messages whose conversation was gone before: the second time it is a refusal like others. */
  const moved = new Set<string>()
  let made = 0
  let pause = shortestPause
  let timer: ReturnType<typeof setTimeout> | undefined

  const show = () => {
    const { conversation, messages, outgoing } = store.get()
    const arrived = new Set(messages.map(clientIdOf))
    const waiting = [...refused, ...storage.readUnsent()]
    const ids = new Set(waiting.map(({ clientMessageId }) => clientMessageId))
    // What is sent stays to be seen until it comes back, which can be later than the response.
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
      await wire.sendMessage(message)
    } catch (error) {
      if (isPassing(error)) {
        const wish = error instanceof Refusal ? error.retryAfter : 0
        timer = setTimeout(flush, Math.max(wish, (pause * (1 + Math.random())) / 2))
        pause = Math.min(pause * 2, longestPause)
        return false
      }
      const isGone = error instanceof Refusal && [403, 404].includes(error.status)
      if (isGone && !moved.has(clientMessageId)) {
        moved.add(clientMessageId)
        options.onGone()
        return false
      }
      refused = [...refused, { ...message, refusal: (error as Error).message }]
      storage.dropUnsent(clientMessageId)
      show()
      return true
    }
    pause = shortestPause
    storage.dropUnsent(clientMessageId)
    show()
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
  let isWanted = false
  function flush(): void {
    clearTimeout(timer)
    isWanted = true
    if (isSending) return
    isSending = true
    const work = async () => {
      while (isWanted) {
        isWanted = false
        await alone(lock, sendAll)
      }
    }
    void work().finally(() => {
      isSending = false
    })
  }

  // Another tab has added or sent a message.
  storage.onUnsent(show)
  show()
  return {
    add(payload) {
      const message: Unsent = {
        clientMessageId: newId(),
        conversationId: store.get().conversation?.id ?? '',
        payload,
        createdAt: new Date().toISOString(),
        sequence: made++,
      }
      storage.putUnsent(message)
      show()
      flush()
    },
    flush,
    reconcile() {
      if (store.get().outgoing.length > 0) show()
    },
    begin(goneConversation) {
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
      show()
    },
    retry(id) {
      const message = refused.find(({ clientMessageId }) => clientMessageId === id)
      refused = refused.filter((each) => each !== message)
      if (message !== undefined) {
        const { refusal: _, ...unsent } = message
        storage.putUnsent(unsent)
      }
      show()
      flush()
    },
    discard(id) {
      refused = refused.filter(({ clientMessageId }) => clientMessageId !== id)
      show()
    },
    clear() {
      refused = []
      for (const { clientMessageId } of storage.readUnsent()) storage.dropUnsent(clientMessageId)
      store.set({ outgoing: [] })
      show()
    },
  }
}
