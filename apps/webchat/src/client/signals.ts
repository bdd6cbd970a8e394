import type { Configuration, WidgetOptions } from '../shared/bridge.js'
import type { Message, User } from './api.js'
import type { Outbox } from './outbox.js'
import { parseMessage } from './parse.js'
import { clientIdOf, isDraft, type Store, upsert } from './state.js'

/** Statuses that say what became of a message; `processing` only says that it is stored. */
const outcomes: ReadonlyMap<unknown, 'delivered' | 'failed'> = new Map([
  ['processed', 'delivered'],
  ['failed', 'failed'],
])

/** Milliseconds after which the typing indicator disappears without another signal. */
const typingTimeoutMs = 5000

interface SignalHandlerOptions {
  store: Store
  outbox: Pick<Outbox, 'reconcile'>
  options: Pick<WidgetOptions, 'emit' | 'show' | 'setUnread'>
  configure(configuration: Configuration): void
}

/** Returns a function that applies signals of the stream to the state; it ignores unknown ones. */
export function createSignalHandler({ store, outbox, options, configure }: SignalHandlerOptions) {
  const { emit, show, setUnread } = options
  let typingTimer: ReturnType<typeof setTimeout> | undefined
  let unread = 0
  store.subscribe(() => {
    if (unread === 0 || !store.get().isOpen) return
    unread = 0
    setUnread(0)
  })

  function setTyping(isTyping: boolean): void {
    clearTimeout(typingTimer)
    if (isTyping) typingTimer = setTimeout(() => setTyping(false), typingTimeoutMs)
    if (store.get().isTyping === isTyping) return
    store.set({ isTyping })
    emit('isTyping', { isTyping, timeout: isTyping ? typingTimeoutMs : 0 })
  }

  function save(message: Message | undefined): void {
    const { conversation, messages } = store.get()
    if (message === undefined) return
    if (message.conversationId !== conversation?.id) return
    store.set({ messages: upsert(messages, message) })
    outbox.reconcile()
  }

  return (type: string, data: Record<string, unknown>): void => {
    switch (type) {
      case 'message_created': {
        const message = parseMessage(data)
        const { user, isOpen } = store.get()
        save(message)
        if (message === undefined) return
        if (message.userId !== user?.id) {
          setTyping(false)
          if (!isOpen) {
            unread += 1
            setUnread(unread)
          }
        }
        // Listeners receive a message once, when it is complete.
        if (!isDraft(message)) emit('message', toPageEvent(message))
        return
      }
      case 'message_updated': {
        const message = parseMessage(data)
        const isWritten =
          message !== undefined &&
          !isDraft(message) &&
          store
            .get()
            .messages.some((known) => isDraft(known) && clientIdOf(known) === clientIdOf(message))
        save(message)
        if (isWritten) emit('message', toPageEvent(message))
        return
      }
      case 'message_status_changed': {
        const { message, newStatus } = data
        const outcome = outcomes.get(newStatus)
        if (outcome === undefined) return
        const changed = parseMessage(message)
        if (changed === undefined) return
        const ids = [changed.id, clientIdOf(changed) ?? changed.id]
        const ended = ids.map((id) => [id, outcome] as const)
        store.set({ outcomes: new Map([...store.get().outcomes, ...ended]) })
        return
      }
      case 'message_deleted':
        store.set({ messages: store.get().messages.filter(({ id }) => id !== data.id) })
        return
      case 'typing_started':
        setTyping(true)
        return
      case 'typing_stopped':
        setTyping(false)
        return
      case 'participant_added': {
        const participant: User = Object(data.participant)
        const others = store.get().participants.filter(({ id }) => id !== participant.id)
        store.set({ participants: [...others, participant] })
        emit('participantAdded', participant)
        return
      }
      case 'participant_removed': {
        const { participantId } = data
        const rest = store.get().participants.filter(({ id }) => id !== participantId)
        store.set({ participants: rest })
        emit('participantRemoved', participantId)
        return
      }
      case 'webchat_visibility': {
        const { visibility } = data
        emit('webchatVisibility', visibility)
        if (visibility === 'show' || visibility === 'hide' || visibility === 'toggle') {
          show(visibility)
        }
        return
      }
      case 'webchat_config': {
        const config = Object(data.config)
        emit('webchatConfig', config)
        configure(Object(config.configuration ?? config))
        return
      }
      case 'custom':
        emit('customEvent', data.event)
        return
      case 'error':
        emit('error', Object.assign(new Error(String(data.message)), data))
    }
  }
}

/** A message as listeners of the page receive it: also with the member names of `@botpress/webchat`. */
function toPageEvent(message: Message): Record<string, unknown> {
  const { createdAt, userId, payload } = message
  return { ...message, timestamp: new Date(createdAt), authorId: userId, block: payload }
}
