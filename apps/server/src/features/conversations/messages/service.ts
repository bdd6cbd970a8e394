import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import { aliasOf, type BotActor } from '../../../domain/actor.js'
import { encodePayload } from '../../../domain/payload.js'
import { storedFilter, type Tags } from '../../../domain/tags.js'
import { dueTimeOf, timeOf } from '../../../domain/times.js'
import { isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page, PageRequest } from '../../../platform/db/paginate.js'
import { purge as purgeRows } from '../../../platform/db/purge.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import type { BotProfile } from '../../bots/bots/index.js'
import {
  type ConversationsService,
  conversationEvents,
  type EventPosition,
} from '../conversations/index.js'
import type { EventsService } from '../events/index.js'
import type { Changes } from '../object-changes/index.js'
import {
  deleteTags,
  newTags,
  patchedTags,
  replaceTags,
  type TagsPatch,
  tagMatchOf,
} from '../tags/index.js'
import type { UsersService } from '../users/index.js'
import { type AppendDeps, createAppend } from './append.js'
import { createRequireAuthor, requireMessageShape, unknownReference } from './authors.js'
import { createImport, type ImportDeps } from './import.js'
import { createScheduledMessages, type ScheduledMessagesDeps, toMessageRow } from './scheduled.js'
import * as store from './store.js'
import { createUpdates } from './updates.js'
import { describeMessages, toMessage } from './view.js'

type CreateInput = Body<typeof contract.messages.create>
type WantedMessage = Body<typeof contract.messages.getOrCreate>
type MessagePatch = Body<typeof contract.messages.update>
type MessageQuery = Query<typeof contract.messages.list>

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    /** A single message is being deleted; subscribers delete what belongs to it. */
    'message.removed': { botId: string; messageId: string }
  }
}

/** A message to append now or later. */
interface MessageDraft {
  userId: string
  conversationId: string
  type: string
  payload: Record<string, unknown>
  tags: TagsPatch
  discriminateByTags?: string[] | undefined
  origin?: 'synthetic' | undefined
  /** Milliseconds since the Unix epoch; undefined for now. */
  dueAt?: number | undefined
  /** Path of the message in the body, with a trailing dot; undefined when it is the body. */
  path?: string
}

/** A message, and whether the call created it. */
interface GetOrCreateResult {
  message: store.MessageRow
  created: boolean
}

export interface MessagesDeps extends AppendDeps, ScheduledMessagesDeps, ImportDeps {
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
  const { db, run, clock, dialect, pager, botProfiles, changes, conversations, maxPayloadBytes } =
    deps
  const append = createAppend(deps)
  const requireAuthor = createRequireAuthor(deps)
  const { schedule, ...scheduled } = createScheduledMessages(deps, append)
  const updates = createUpdates(deps)
  const imports = createImport(deps, { createIn, getOrCreateIn })
  deps.events.subjects.messageId.fill(exists)
  deps.events.messages.fill(describe)
  deps.events.unreported.fill(store.listUnreportedMessages)
  conversations.emptying.fill(emptyConversations)

  /** Creates a message: incoming from an integration, outgoing from everybody else. */
  async function create(
    actor: BotActor,
    input: CreateInput,
    remember: Remember<store.MessageRow>,
  ): Promise<store.MessageRow> {
    const dueAt = dueTimeOf(input.schedule, clock.now())
    const profile = await botProfiles.of(actor.botId)
    return await run(async (tx) => {
      const message = await createIn(tx, actor, profile, { ...input, dueAt })
      await remember?.(tx, message)
      return message
    })
  }

  /** As above, in the transaction of the caller. */
  async function createIn(
    tx: Tx,
    actor: BotActor,
    profile: BotProfile,
    draft: MessageDraft,
  ): Promise<store.MessageRow> {
    const { botId } = actor
    const { conversationId, userId, type, dueAt } = draft
    const alias = aliasOf(actor)
    const author = await requireAuthor(tx, actor, conversationId, userId)
    requireMessageShape(profile, author.conversation, draft, draft.path)
    const tags = newTags(alias, draft.tags)
    const message = {
      botId,
      userId,
      type,
      origin: draft.origin ?? null,
      direction: alias === undefined ? ('outgoing' as const) : ('incoming' as const),
      payload: encodePayload(draft.payload, maxPayloadBytes),
      tags: Object.keys(tags).length === 0 ? null : encodeJson(tags),
    }
    let made: store.MessageRow
    if (dueAt === undefined) {
      const slot = await conversations.takeSlot(tx, { botId, id: conversationId }, author)
      if (slot === undefined) throw unknownConversation(conversationId)
      made = await append(tx, slot, message, profile)
    } else {
      made = await schedule(tx, conversationId, message, dueAt)
    }
    if (message.tags !== null) {
      await replaceTags(tx, { botId, kind: 'message', id: made.id }, {}, tags)
    }
    return made
  }

  /**
   * The message that the tags identify, with the other tags merged in; created if there is none.
   */
  async function getOrCreate(actor: BotActor, input: WantedMessage): Promise<GetOrCreateResult> {
    const dueAt = dueTimeOf(input.schedule, clock.now())
    const profile = await botProfiles.of(actor.botId)
    const wanted = { ...input, payload: input.payload ?? {}, dueAt }
    return await run((tx) => getOrCreateIn(tx, actor, profile, wanted))
  }

  /** As above, in the transaction of the caller. */
  async function getOrCreateIn(
    tx: Tx,
    actor: BotActor,
    profile: BotProfile,
    wanted: MessageDraft,
  ): Promise<GetOrCreateResult> {
    const { botId } = actor
    const { conversationId, discriminateByTags, tags } = wanted
    const conversation = await conversations.findVisible(tx, actor, conversationId)
    if (conversation === undefined) throw unknownConversation(conversationId)
    const match = tagMatchOf(aliasOf(actor), tags, discriminateByTags)
    // Locked before the lookup, so that the second of two callers searches after the first commits.
    await dialect.holdName(tx, `messages ${conversationId}`)
    const found = await store.matchMessage(tx, botId, conversationId, match)
    if (found !== undefined) {
      const message = (await store.lockMessage(tx, botId, found.id)) ?? found
      const { integration } = conversation
      const patched = await patch(tx, actor, profile, integration, message, { tags })
      return { message: patched, created: false }
    }
    const waiting = await store.matchScheduled(tx, botId, conversationId, match)
    if (waiting !== undefined) return { message: toMessageRow(waiting), created: false }
    return { message: await createIn(tx, actor, profile, wanted), created: true }
  }

  /** The message with an id, also a scheduled one, if it is visible to the caller. */
  async function get(actor: BotActor, id: string): Promise<store.MessageRow> {
    const found = await store.findWithIntegration(db, actor.botId, id)
    if (found !== undefined && isVisible(actor, found.integration)) return found.message
    const waiting = await store.findScheduled(db, actor.botId, id)
    if (waiting !== undefined && isVisible(actor, waiting.integration)) {
      return toMessageRow(waiting.message)
    }
    throw unknownMessage(id)
  }

  /** Whether the message exists and is visible to the caller. */
  async function exists(executor: Db | Tx, actor: BotActor, id: string): Promise<boolean> {
    const found = await store.findWithIntegration(executor, actor.botId, id)
    return found !== undefined && isVisible(actor, found.integration)
  }

  /** Newest first. */
  async function list(actor: BotActor, query: MessageQuery): Promise<Page<store.MessageRow>> {
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
      throw unknownConversation(conversationId, 'query')
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
  async function listOf(
    botId: string,
    conversationId: string,
    page: PageRequest<'created_at'>,
  ): Promise<Page<store.MessageRow>> {
    return await store.pageMessages(db, botId, conversationId, page)
  }

  /** The given messages that still exist. */
  async function findAll(botId: string, ids: readonly string[]): Promise<store.MessageRow[]> {
    return await store.listMessages(db, botId, ids)
  }

  /**
   * Messages with their author and conversation, by id; deleted ones are left out.
   * @param alias of the receiving integration; undefined for the bot
   */
  function describe(
    executor: Db | Tx,
    botId: string,
    messageIds: readonly string[],
    alias?: string,
  ) {
    return describeMessages(deps, executor, botId, messageIds, alias)
  }

  async function update(
    actor: BotActor,
    id: string,
    changes: MessagePatch,
  ): Promise<store.MessageRow> {
    const known = await get(actor, id)
    const profile = await botProfiles.of(actor.botId)
    return await run(async (tx) => {
      // The conversation first, whose log tells of the change: all changes in it take this lock first.
      await conversations.hold(tx, { botId: actor.botId, id: known.conversation_id })
      const message = await store.lockMessage(tx, actor.botId, id)
      if (message === undefined) throw unknownMessage(id)
      const { conversation_id: conversationId, type } = message
      const conversation = await conversations.findVisible(tx, actor, conversationId)
      if (conversation === undefined) throw unknownMessage(id)
      if (changes.payload !== undefined) {
        requireMessageShape(profile, conversation, { type, payload: changes.payload })
      }
      return await patch(tx, actor, profile, conversation.integration, message, changes)
    })
  }

  /** Stores a patch; writes nothing if it changes nothing. */
  async function patch(
    tx: Tx,
    actor: BotActor,
    profile: BotProfile,
    integration: string,
    message: store.MessageRow,
    wanted: MessagePatch,
  ): Promise<store.MessageRow> {
    const before = decodeJson<Tags>(message.tags ?? '{}')
    const after = patchedTags(aliasOf(actor), before, wanted.tags)
    const tags = Object.keys(after).length === 0 ? null : encodeJson(after)
    const payload =
      wanted.payload === undefined
        ? message.payload
        : encodePayload(wanted.payload, maxPayloadBytes)
    if (tags === message.tags && payload === message.payload) return message
    const next = { tags, payload, updated_at: isoTime(clock.now()) }
    await store.patchMessage(tx, message.bot_id, message.id, next)
    await replaceTags(tx, { botId: message.bot_id, kind: 'message', id: message.id }, before, after)
    const changed = { ...message, ...next }
    if (payload !== message.payload) await updates.logUpdate(tx, message)
    await changes.record(tx, actor, profile, {
      kind: 'message_updated',
      integration,
      conversationId: message.conversation_id,
      objectId: message.id,
      view: (alias) => ({ before: toMessage(message, alias), after: toMessage(changed, alias) }),
    })
    return changed
  }

  /** Deletes a message and logs it. Throws `ResourceNotFound` if it is already deleted. */
  async function remove(tx: Tx, message: store.MessageRow): Promise<EventPosition | undefined> {
    const { id, bot_id: botId, conversation_id, user_id: userId } = message
    // The number first: all changes in a conversation take this lock first.
    const position = await conversations.appendEvent(
      tx,
      { botId, id: conversation_id },
      { type: conversationEvents.messageDeleted, subjectId: id, data: { userId } },
      1,
    )
    if (!(await store.deleteMessage(tx, botId, id))) {
      throw new ApiError('ResourceNotFound', `There is no message ${id}.`)
    }
    if (message.tags !== null) await deleteTags(tx, botId, [id])
    await deps.domainEvents.raise(tx, 'message.removed', { botId, messageId: id })
    return position
  }

  /** Removes a message, or cancels one that is scheduled. */
  async function removeById(actor: BotActor, id: string): Promise<void> {
    await get(actor, id)
    await run(
      async (tx) => {
        const message = await store.findMessage(tx, actor.botId, id)
        if (message !== undefined) {
          await remove(tx, message)
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
    botId: string,
    conversationIds: readonly string[],
  ): Promise<void> {
    await run((tx) => store.deleteScheduledOf(tx, botId, conversationIds), { mayUseReserve: true })
    await purge(botId, conversationIds)
  }

  /** Deletes the appended messages of some conversations, by native id. */
  async function purge(botId: string, conversationIds: readonly string[]): Promise<void> {
    await purgeRows(run, (tx, limit) => store.deleteSomeMessages(tx, botId, conversationIds, limit))
  }

  return {
    ...imports,
    ...scheduled,
    append,
    create,
    getOrCreate,
    get,
    /** The message with this id. */
    find: store.findMessage,
    findAll,
    describe,
    list,
    listOf,
    update,
    ...updates,
    remove,
    removeById,
    /** The profile of the bot, which decides who is notified of messages. */
    profileOf: botProfiles.of,
    emptyConversations,
    purge,
  }
}

function isVisible(actor: BotActor, integration: string): boolean {
  const alias = aliasOf(actor)
  return alias === undefined || alias === integration
}

function unknownMessage(id: string): ApiError {
  return new ApiError('ResourceNotFound', `There is no message ${id} in this bot.`)
}

function unknownConversation(id: string, where: 'body' | 'query' = 'body'): ApiError {
  return unknownReference('conversationId', `there is no conversation ${id}.`, where)
}
