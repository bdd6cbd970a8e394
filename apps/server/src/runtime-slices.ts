import { type Bots, builtInChat } from './features/bots/index.js'
import { createConversations } from './features/conversations/index.js'
import { createDeliveryBodies, createOutbox } from './features/deliveries/index.js'
import { createEvents } from './features/events/index.js'
import { createMessages } from './features/messages/index.js'
import { createTags } from './features/tags/index.js'
import { createUsers } from './features/users/index.js'
import type { Foundation } from './foundation.js'

/** What the runtime slices stand on. */
export type RuntimeFoundation = Pick<
  Foundation,
  'db' | 'run' | 'dialect' | 'clock' | 'ids' | 'pager' | 'queue' | 'bus' | 'events'
> & {
  bots: Pick<Bots, 'audiences' | 'service'>
  /** Most bytes of the payload of a message, an event or a state. */
  maxPayloadBytes: number
}

export type RuntimeSlices = ReturnType<typeof createRuntimeSlices>

/** Builds the slices that bots and integrations work with, and tells each what it needs. */
export function createRuntimeSlices(foundation: RuntimeFoundation) {
  const { audiences } = foundation.bots
  const outbox = createOutbox(foundation)
  const tags = createTags(foundation)
  const users = createUsers({
    ...foundation,
    requireConversation: (actor, conversationId) =>
      events.service.requireSubjects(actor, { conversationId }),
    onRemoved: async (tx, botId, userId) => {
      await conversations.service.forgetUser(tx, { botId, userId })
    },
  })
  const conversations = createConversations({
    ...foundation,
    users: users.service,
    chatAlias: builtInChat.alias,
    onRemoved: async (tx, conversation) => {
      await messages.service.emptyConversation(tx, conversation)
    },
  })
  const events = createEvents({
    ...foundation,
    outbox,
    audiences,
    describeMessages: (executor, botId, ids) => messages.describe(executor, botId, ids),
    subjects: {
      userId: async (tx, actor, id) => !!(await users.service.findVisible(tx, actor, id)),
      conversationId: async (tx, actor, id) =>
        !!(await conversations.service.findVisible(tx, actor, id)),
      messageId: (tx, actor, id) => messages.service.exists(tx, actor, id),
      workflowId: async () => false,
    },
    onRecurringSettled: async () => {},
  })
  const messages = createMessages({
    ...foundation,
    outbox,
    audiences,
    botEvents: events.service,
    users: users.service,
    conversations: conversations.service,
  })

  return {
    outbox,
    users,
    conversations,
    messages,
    events,
    /** Bodies of what the outbox holds. */
    bodies: createDeliveryBodies({ events: events.service, messages }),
    jobs: { ...events.jobs, ...messages.jobs },
    routes: [
      ...users.routes,
      ...conversations.routes,
      ...messages.routes,
      ...events.routes,
      ...tags.routes,
    ],

    /** Removes what a deleted bot left behind. */
    async purge(botId: string): Promise<void> {
      await conversations.service.purge(botId, (ids) => messages.service.purge(botId, ids))
      await users.service.purge(botId)
      await events.service.purge(botId)
      await tags.service.purge(botId)
      await outbox.purge(botId)
    },
  }
}
