import type { contract, Query } from '@botstead/contract'
import { aliasOf, type BotActor } from '../../../domain/actor.js'
import { noReference, notFound } from '../../../domain/refusals.js'
import { storedFilter } from '../../../domain/tags.js'
import { timeOf } from '../../../domain/times.js'
import { bound } from '../../../platform/bound.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page, PageRequest } from '../../../platform/db/paginate.js'
import { purge as purgeRows } from '../../../platform/db/purge.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import {
  type ConversationsService,
  conversationEvents,
  type EventPosition,
} from '../conversations/index.js'
import type { EventsService } from '../events/index.js'
import type { Changes } from '../object-changes/index.js'
import { deleteTags } from '../tags/index.js'
import type { UsersService } from '../users/index.js'
import { appendMessage } from './append.js'
import { requireMessageShape } from './authors.js'
import { createMessage, getOrCreateMessage } from './creation.js'
import { type ImportDeps, importMessages, initializeIncoming } from './import.js'
import {
  emptyConversation,
  releaseMessage,
  type ScheduledMessagesDeps,
  toMessageRow,
} from './scheduled.js'
import * as store from './store.js'
import { logUpdate, type MessagePatch, patchMessage, replacePayload } from './updates.js'
import { describeMessages } from './view.js'

type MessageQuery = Query<typeof contract.messages.list>

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    /** A single message is being deleted; subscribers delete what belongs to it. */
    'message.removed': { botId: string; messageId: string }
  }
}

export interface MessagesDeps extends ScheduledMessagesDeps, ImportDeps {
  db: Db
  pager: Pager
  events: Pick<EventsService, 'record' | 'subjects' | 'messages' | 'unreported'>
  changes: Pick<Changes, 'record'>
  users: UsersService
  conversations: ConversationsService
}

export type MessagesService = ReturnType<typeof createMessagesService>

/** Messages, by native id. */
export function createMessagesService(deps: MessagesDeps) {
  const { events, conversations } = deps
  const methods = bound(deps, {
    importMessages,
    initializeIncoming,
    append: appendMessage,
    release: releaseMessage,
    emptyConversation,
    logUpdate,
    replacePayload,
    create: createMessage,
    getOrCreate: getOrCreateMessage,
    get: getMessage,
    findAll: findMessages,
    describe: describeMessages,
    list: listMessages,
    listOf: listOfConversation,
    update: updateMessage,
    remove: removeMessage,
    removeById: removeMessageById,
    emptyConversations,
    purge: purgeMessages,
  })
  events.subjects.messageId.fill(messageExists)
  events.messages.fill(methods.describe)
  events.unreported.fill(store.listUnreportedMessages)
  conversations.emptying.fill(methods.emptyConversations)

  return {
    ...methods,
    /** The message with this id. */
    find: store.findMessage,
    /** The profile of the bot, which decides who is notified of messages. */
    profileOf: deps.botProfiles.of,
  }
}

/** The message with an id, also a scheduled one, if it is visible to the caller. */
async function getMessage(
  { db }: MessagesDeps,
  actor: BotActor,
  id: string,
): Promise<store.MessageRow> {
  const found = await store.findWithIntegration(db, actor.botId, id)
  if (found !== undefined && isVisible(actor, found.integration)) return found.message
  const waiting = await store.findScheduled(db, actor.botId, id)
  if (waiting !== undefined && isVisible(actor, waiting.integration)) {
    return toMessageRow(waiting.message)
  }
  throw notFound('message', id, 'in this bot')
}

/** Whether the message exists and is visible to the caller. */
async function messageExists(executor: Db | Tx, actor: BotActor, id: string): Promise<boolean> {
  const found = await store.findWithIntegration(executor, actor.botId, id)
  return found !== undefined && isVisible(actor, found.integration)
}

/** Newest first. */
async function listMessages(
  { pager, conversations, db }: MessagesDeps,
  actor: BotActor,
  query: MessageQuery,
): Promise<Page<store.MessageRow>> {
  const { nextToken, pageSize, ...filter } = query
  const alias = aliasOf(actor)
  const page = pager.page({
    operation: 'listMessages',
    scope: `${actor.botId}/${alias ?? ''}`,
    filter,
    sort: 'created_at',
    direction: 'desc',
    nextToken,
    pageSize,
  })
  const { conversationId } = filter
  if (
    conversationId !== undefined &&
    (await conversations.findVisible(db, actor, conversationId)) === undefined
  ) {
    throw noReference('query.conversationId', 'conversation', conversationId)
  }
  return await store.pageAllMessages(
    db,
    actor.botId,
    {
      integration: alias,
      conversationId,
      tags: storedFilter(alias, filter.tags ?? {}),
      after: timeOf('afterDate', filter.afterDate, 'beginning'),
      before: timeOf('beforeDate', filter.beforeDate, 'end'),
    },
    page,
  )
}

/** Messages of a conversation, in the order of the page. */
async function listOfConversation(
  { db }: MessagesDeps,
  botId: string,
  conversationId: string,
  page: PageRequest<'created_at'>,
): Promise<Page<store.MessageRow>> {
  return await store.pageMessages(db, botId, conversationId, page)
}

/** The given messages that still exist. */
async function findMessages(
  { db }: MessagesDeps,
  botId: string,
  ids: readonly string[],
): Promise<store.MessageRow[]> {
  return await store.listMessages(db, botId, ids)
}

async function updateMessage(
  deps: MessagesDeps,
  actor: BotActor,
  id: string,
  changes: MessagePatch,
): Promise<store.MessageRow> {
  const known = await getMessage(deps, actor, id)
  const profile = await deps.botProfiles.of(actor.botId)
  return await deps.run(async (tx) => {
    // The conversation first, whose log tells of the change: all changes in it take this lock first.
    await deps.conversations.hold(tx, { botId: actor.botId, id: known.conversation_id })
    const message = await store.lockMessage(tx, actor.botId, id)
    if (message === undefined) throw notFound('message', id, 'in this bot')
    const { conversation_id: conversationId, type } = message
    const conversation = await deps.conversations.findVisible(tx, actor, conversationId)
    if (conversation === undefined) throw notFound('message', id, 'in this bot')
    if (changes.payload !== undefined) {
      requireMessageShape(profile, conversation, { type, payload: changes.payload })
    }
    return await patchMessage(deps, tx, actor, profile, conversation.integration, message, changes)
  })
}

/** Deletes a message and logs it. Throws `ResourceNotFound` if it is already deleted. */
async function removeMessage(
  deps: MessagesDeps,
  tx: Tx,
  message: store.MessageRow,
): Promise<EventPosition | undefined> {
  const { id, bot_id: botId, conversation_id, user_id: userId } = message
  // The number first: all changes in a conversation take this lock first.
  const position = await deps.conversations.appendEvent(
    tx,
    { botId, id: conversation_id },
    { type: conversationEvents.messageDeleted, subjectId: id, data: { userId } },
    1,
  )
  if (!(await store.deleteMessage(tx, botId, id))) {
    throw notFound('message', id)
  }
  if (message.tags !== null) await deleteTags(tx, botId, [id])
  await deps.domainEvents.raise(tx, 'message.removed', { botId, messageId: id })
  return position
}

/** Removes a message, or cancels one that is scheduled. */
async function removeMessageById(deps: MessagesDeps, actor: BotActor, id: string): Promise<void> {
  await getMessage(deps, actor, id)
  await deps.run(
    async (tx) => {
      const message = await store.findMessage(tx, actor.botId, id)
      if (message !== undefined) {
        await removeMessage(deps, tx, message)
        return
      }
      await store.takeScheduled(tx, actor.botId, id)
      await deleteTags(tx, actor.botId, [id])
    },
    { mayUseReserve: true },
  )
}

/** Deletes all messages of some conversations of a deleted bot, also scheduled ones. */
async function emptyConversations(
  deps: MessagesDeps,
  botId: string,
  conversationIds: readonly string[],
): Promise<void> {
  await deps.run((tx) => store.deleteScheduledOf(tx, botId, conversationIds), {
    mayUseReserve: true,
  })
  await purgeMessages(deps, botId, conversationIds)
}

/** Deletes the appended messages of some conversations, by native id. */
async function purgeMessages(
  { run }: MessagesDeps,
  botId: string,
  conversationIds: readonly string[],
): Promise<void> {
  await purgeRows(run, (tx, limit) => store.deleteSomeMessages(tx, botId, conversationIds, limit))
}

function isVisible(actor: BotActor, integration: string): boolean {
  const alias = aliasOf(actor)
  return alias === undefined || alias === integration
}
