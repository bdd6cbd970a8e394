import type { Bots } from '../features/bots/bots/index.js'
import { builtInChat } from '../features/bots/installations/index.js'
import type { Makers } from '../features/calls/makers/index.js'
import { announceRevokedUser } from '../features/chat/streams/index.js'
import {
  createConversations,
  toConversation,
} from '../features/conversations/conversations/index.js'
import { createEvents } from '../features/conversations/events/index.js'
import { createMessages } from '../features/conversations/messages/index.js'
import { createChanges } from '../features/conversations/object-changes/index.js'
import { createObservations } from '../features/conversations/observations/index.js'
import { createRecurring } from '../features/conversations/recurring/index.js'
import { createStates } from '../features/conversations/states/index.js'
import { createTags } from '../features/conversations/tags/index.js'
import { createUsers, toUser } from '../features/conversations/users/index.js'
import { createWorkflows } from '../features/conversations/workflows/index.js'
import { isoTime } from '../platform/clock.js'
import { afterCommit } from '../platform/db/after-commit.js'
import type { Tx } from '../platform/db/schema.js'
import type { Foundation } from './context.js'

/** What the runtime slices stand on. */
export type RuntimeFoundation = Pick<
  Foundation,
  'domainEvents' | 'db' | 'run' | 'dialect' | 'clock' | 'ids' | 'pager' | 'queue' | 'bus' | 'events'
> & {
  bots: Pick<Bots, 'audiences' | 'service'>
  makers: Makers
  /** Milliseconds that a bot is told of before it got an address; 0 for nothing. */
  missedEventsMs: number
  /** Most bytes of the payload of a message, an event or a state. */
  maxPayloadBytes: number
}

/** Milliseconds that observations of bots are kept: 30 days. */
const retention = 30 * 24 * 60 * 60 * 1000
const rowsAtOnce = 500

/** Builds the slices that bots and integrations work with, and tells each what it needs. */
export function createRuntimeSlices(foundation: RuntimeFoundation) {
  const { audiences } = foundation.bots
  const changes = createChanges(foundation)
  const tags = createTags(foundation)
  const shutOut = (tx: Tx, userId: string) =>
    afterCommit(tx, () => announceRevokedUser(foundation.bus, userId))
  const users = createUsers({
    ...foundation,
    audiences,
    requireConversation: (actor, conversationId) =>
      events.service.requireSubjects(actor, { conversationId }),
    onRemoved: async (tx, botId, userId) => {
      await conversations.service.forgetUser(tx, { botId, userId })
      await states.service.removeOf(tx, botId, 'user', userId)
      shutOut(tx, userId)
    },
    onShutOut: shutOut,
  })
  const conversations = createConversations({
    ...foundation,
    audiences,
    changes,
    users: users.service,
    chatAlias: builtInChat.alias,
    onRemoved: async (tx, conversation) => {
      await messages.service.emptyConversation(tx, conversation)
      await states.service.removeOf(tx, conversation.botId, 'conversation', conversation.id)
    },
  })
  const events = createEvents({
    ...foundation,
    audiences,
    describeMessages: (executor, botId, ids) => messages.describe(executor, botId, ids),
    subjects: {
      userId: async (tx, actor, id) => !!(await users.service.findVisible(tx, actor, id)),
      conversationId: async (tx, actor, id) =>
        !!(await conversations.service.findVisible(tx, actor, id)),
      messageId: (tx, actor, id) => messages.service.exists(tx, actor, id),
      workflowId: (executor, actor, id) => workflows.service.exists(executor, actor, id),
    },
    onRecurringSettled: (tx, botId, name, failure) =>
      recurring.service.settle(tx, botId, name, failure),
  })
  foundation.domainEvents.subscribe(events.on)
  const messages = createMessages({
    ...foundation,
    audiences,
    botEvents: events.service,
    changes,
    users: users.service,
    conversations: conversations.service,
  })
  const recurring = createRecurring({ ...foundation, audiences, events: events.service })
  const states = createStates({
    ...foundation,
    audiences,
    events: events.service,
    ownerExists: async (executor, actor, type, id) => {
      switch (type) {
        case 'conversation':
          return !!(await conversations.service.findVisible(executor, actor, id))
        case 'user':
          return !!(await users.service.findVisible(executor, actor, id))
        case 'workflow':
          return await workflows.service.exists(executor, actor, id)
        default:
          return type satisfies never
      }
    },
  })
  const workflows = createWorkflows({
    ...foundation,
    audiences,
    events: events.service,
    requireAbout: (executor, actor, about, place) =>
      events.service.requireSubjectsIn(executor, actor, about, place),
    describe: async (tx, botId, { conversationId, userId }) => {
      const [conversation] = conversationId
        ? await conversations.service.findAll(tx, botId, [conversationId])
        : []
      const [user] = userId ? await users.service.findAll(tx, botId, [userId]) : []
      return {
        ...(conversation && { conversation: toConversation(conversation, undefined) }),
        ...(user && { user: toUser(user, undefined) }),
      }
    },
    showCurrent: (tx, botId, id, find) =>
      conversations.service.showWorkflow(tx, { botId, id }, find),
    onRemoved: (tx, botId, id) => states.service.removeOf(tx, botId, 'workflow', id),
  })
  const observations = createObservations({ ...foundation, events: events.service })

  return {
    users,
    conversations,
    messages,
    events,
    changes,
    recurring,
    observations,
    jobs: {
      ...events.jobs,
      ...messages.jobs,
      ...recurring.jobs,
      ...states.jobs,
      ...workflows.jobs,
    },
    routes: [
      ...users.routes,
      ...conversations.routes,
      ...messages.routes,
      ...events.routes,
      ...tags.routes,
      ...states.routes,
      ...workflows.routes,
      ...observations.routes,
    ],

    /** Deletes some of the observations that are old enough; returns how many. */
    async sweep(tx: Tx): Promise<number> {
      const before = isoTime(foundation.clock.now() - retention)
      return await observations.service.trim(tx, before, rowsAtOnce)
    },

    /** Removes what a deleted bot left behind. */
    async purge(botId: string): Promise<void> {
      await conversations.service.purge(botId, (ids) => messages.service.purge(botId, ids))
      await users.service.purge(botId)
      await recurring.service.purge(botId)
      await workflows.service.purge(botId)
      await states.service.purge(botId)
      await observations.service.purge(botId)
      await events.service.purge(botId)
      await tags.service.purge(botId)
      await changes.purge(botId)
    },
  }
}
