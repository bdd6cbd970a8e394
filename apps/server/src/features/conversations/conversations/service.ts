import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import { aliasOf, type BotActor } from '../../../domain/actor.js'
import type { Port, Ports } from '../../../domain/ports.js'
import { storedFilter, type Tags } from '../../../domain/tags.js'
import { timeOf } from '../../../domain/times.js'
import { bound } from '../../../platform/bound.js'
import { isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeBoolean, encodeJson } from '../../../platform/db/columns.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Page, PageRequest } from '../../../platform/db/paginate.js'
import { purge as purgeRows } from '../../../platform/db/purge.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import type { Ids } from '../../../platform/ids.js'
import type { BotProfile, BotProfiles, InstalledAs } from '../../bots/bots/index.js'
import { creationTags, type RemoteCreator } from '../../calls/remote-creation/index.js'
import type { EventsService } from '../events/index.js'
import type { Changes } from '../object-changes/index.js'
import {
  deleteTags,
  newTags,
  patchedProperties,
  patchedTags,
  replaceTags,
  taggedObjects,
} from '../tags/index.js'
import { appendEvent, conversationEvents } from './log.js'
import { createParticipants, join, type ParticipantsDeps } from './participants.js'
import type { ConversationRef, Member } from './slot-store.js'
import * as store from './store.js'
import { toConversation } from './view.js'

type WantedConversation = Body<typeof contract.conversations.getOrCreate>
type ConversationPatch = Pick<Body<typeof contract.conversations.update>, 'tags' | 'properties'>
type ConversationQuery = Query<typeof contract.conversations.list>

declare module '../../../platform/domain-events.js' {
  interface DomainEvents {
    /** A conversation is being deleted; subscribers delete what belongs to it. */
    'conversation.removed': ConversationRef
    /** A conversation in which nothing happened is about to be deleted; subscribers that have something of it call `keep`. */
    'conversation.unused': ConversationRef & { keep(): void }
  }
}

export interface ConversationsDeps extends ParticipantsDeps {
  ports: Pick<Ports, 'open'>
  dialect: Dialect
  ids: Ids
  /** Events of bots, whose subjects may be conversations. */
  events: Pick<EventsService, 'subjects'>
  domainEvents: Pick<EventDispatcher, 'raise'>
  botProfiles: BotProfiles
  changes: Pick<Changes, 'record'>
  remoteCreator: RemoteCreator
  /** Alias of the integration behind chat addresses: conversations belong to it by default. */
  chatAlias: string
}

/** The parts of the service that its functions use. */
interface ConversationsParts extends ConversationsDeps {
  emptying: Port<EmptyConversations>
  requireVisible(executor: Db | Tx, actor: BotActor, id: string): Promise<store.ConversationRow>
  unknown(id: string): ApiError
}

/** Deletes the messages in some conversations of a deleted bot. */
type EmptyConversations = (botId: string, conversationIds: readonly string[]) => Promise<void>

const purgedAtOnce = 100

export type ConversationsService = ReturnType<typeof createConversationsService>

/**
 * Conversations: for chat users by foreign or native id, for bots and integrations by native id.
 */
export function createConversationsService(deps: ConversationsDeps) {
  const emptying = deps.ports.open<EmptyConversations>('conversations: the deletion of messages')
  const { unknown, findVisible, requireVisible, getOrCreateIn, ...objects } = taggedObjects<
    store.ConversationRow,
    WantedConversation,
    ConversationPatch
  >(deps, {
    noun: 'conversation',
    integrationOf: (...request) => integrationOf(deps, ...request),
    isVisible,
    draft: (...request) => draftOfCaller(deps, ...request),
    insert: insertTagged,
    patch: (...change) => patchTagged(deps, ...change),
    find: store.findConversation,
    lock: store.lockConversation,
    match: (tx, botId, integration, { channel }, match) =>
      store.matchConversation(tx, botId, { integration, channel }, match),
    mergedInto: ({ tags, properties }) => ({ tags, ...(properties && { properties }) }),
    creationRequest(creator, { channel, tags }) {
      const declared = requireChannel(creator, creator.alias, channel)
      const creation = declared?.conversation.creation ?? { enabled: false, requiredTags: [] }
      return {
        channel,
        tags: creationTags(creator, `conversations in the channel ${channel}`, creation, tags),
      }
    },
    addedTo: ({ properties }) => (properties ? { properties } : {}),
  })
  const participants = createParticipants({ ...deps, requireConversation: objects.get })
  deps.events.subjects.conversationId.fill(
    async (...conversation) => (await findVisible(...conversation)) !== undefined,
  )

  return {
    ...objects,
    ...participants,
    ...bound(
      { ...deps, emptying, requireVisible, unknown },
      {
        appendEvent,
        open: openConversation,
        list: listConversations,
        listOwned: listOwnedConversations,
        remove: removeConversation,
        removeUnused: removeUnusedConversation,
        removeById: removeConversationById,
        purge: purgeConversations,
      },
    ),
    findVisible,
    getOrCreateIn,
    /** The conversations with these native ids, in any order. */
    findAll: store.findConversations,
    hold: holdConversation,
    markStarted,
    showWorkflow,
    emptying,
  }
}

function draft({ clock, ids, chatAlias }: ConversationsDeps, botId: string): store.ConversationRow {
  const now = isoTime(clock.now())
  return {
    id: ids.next('conv'),
    bot_id: botId,
    foreign_id: null,
    integration: chatAlias,
    channel: 'channel',
    tags: '{}',
    properties: '{}',
    owner_user_id: null,
    claimable: 0,
    message_count: 0,
    last_sequence: 0,
    last_message_at: 0,
    current_workflow_id: null,
    start_event_id: null,
    created_at: now,
    updated_at: now,
  }
}

/** Alias of the installation that a new conversation belongs to. */
function integrationOf(
  { chatAlias }: ConversationsDeps,
  actor: BotActor,
  profile: BotProfile,
  input: WantedConversation,
): string {
  const { integrationName: name } = input
  return aliasOf(actor) ?? (name === undefined ? chatAlias : profile.aliasFor(name))
}

function draftOfCaller(
  deps: ConversationsDeps,
  actor: BotActor,
  profile: BotProfile,
  input: WantedConversation,
): store.ConversationRow {
  const alias = aliasOf(actor)
  if (alias !== undefined) requireChannel(profile.installationOf(alias), alias, input.channel)
  return {
    ...draft(deps, actor.botId),
    integration: integrationOf(deps, actor, profile, input),
    channel: input.channel,
    tags: encodeJson(newTags(alias, input.tags)),
    properties: encodeJson(patchedProperties({}, input.properties)),
    // Conversations of other integrations belong to users of that integration, never to chat
    // users.
    claimable: encodeBoolean(alias === undefined || alias === deps.chatAlias),
  }
}

async function insertTagged(tx: Tx, conversation: store.ConversationRow): Promise<void> {
  await store.insertConversation(tx, conversation)
  await replaceTags(tx, tagged(conversation), {}, decodeJson<Tags>(conversation.tags))
}

/** Stores a patch; writes nothing if it changes nothing. */
async function patchTagged(
  { clock, changes }: ConversationsDeps,
  tx: Tx,
  actor: BotActor,
  profile: BotProfile,
  conversation: store.ConversationRow,
  patch: ConversationPatch,
): Promise<store.ConversationRow> {
  const before = decodeJson<Tags>(conversation.tags)
  const after = patchedTags(aliasOf(actor), before, patch.tags)
  const tags = encodeJson(after)
  const properties = encodeJson(
    patchedProperties(decodeJson(conversation.properties), patch.properties),
  )
  if (tags === conversation.tags && properties === conversation.properties) return conversation
  const next = { tags, properties, updated_at: isoTime(clock.now()) }
  await store.patchConversation(tx, conversation.bot_id, conversation.id, next)
  await replaceTags(tx, tagged(conversation), before, after)
  const changed = { ...conversation, ...next }
  await changes.record(tx, actor, profile, {
    kind: 'conversation_updated',
    integration: conversation.integration,
    conversationId: conversation.id,
    objectId: conversation.id,
    view: (alias) => ({
      before: toConversation(conversation, alias),
      after: toConversation(changed, alias),
    }),
  })
  return changed
}

/**
 * Opens a conversation that belongs to a user, who takes part in it.
 * @param foreignId chosen id of the conversation; throws `AlreadyExists` if it is taken
 */
async function openConversation(
  deps: ConversationsDeps,
  tx: Tx,
  owner: Member & { alias: string },
  foreignId: string | undefined,
  remember: Remember<store.ConversationRow>,
): Promise<store.ConversationRow> {
  const conversation: store.ConversationRow = {
    ...draft(deps, owner.botId),
    foreign_id: foreignId ?? null,
    integration: owner.alias,
    owner_user_id: owner.userId,
  }
  if (foreignId !== undefined && (await isNativeId(tx, owner, foreignId))) {
    throw taken(foreignId)
  }
  // Before the conversation: a concurrent repetition must conflict on its idempotency key, and get
  // the first response, not on the id that the first one took.
  await remember?.(tx, conversation)
  try {
    await store.insertConversation(tx, conversation)
  } catch (error) {
    if (deps.dialect.isUniqueViolation(error)) throw taken(foreignId, error)
    throw error
  }
  await join(deps, tx, conversation.id, owner)
  return conversation
}

/** Locks a conversation until the transaction ends; all other changes in it wait. */
async function holdConversation(
  tx: Tx,
  { botId, id }: ConversationRef,
): Promise<store.ConversationRow | undefined> {
  return await store.lockConversation(tx, botId, id)
}

/** Stores which event told the bot that a web chat was opened. */
async function markStarted(tx: Tx, { botId, id }: ConversationRef, eventId: string) {
  await store.patchConversation(tx, botId, id, { start_event_id: eventId })
}

/** The conversations that a user owns. */
async function listOwnedConversations(
  { db }: ConversationsDeps,
  { botId, userId }: Member,
  page: PageRequest<'created_at'>,
): Promise<Page<store.ConversationRow>> {
  return await store.pageOwnedConversations(db, botId, userId, page)
}

async function listConversations(
  { pager, botProfiles, db }: ConversationsDeps,
  actor: BotActor,
  query: ConversationQuery,
): Promise<Page<store.ConversationRow>> {
  const { nextToken, pageSize, sortField, sortDirection, ...filter } = query
  const alias = aliasOf(actor)
  const page = pager.page({
    operation: 'listConversations',
    scope: `${actor.botId}/${alias ?? ''}`,
    filter,
    sort: sortField === 'updatedAt' ? 'updated_at' : 'created_at',
    direction: sortDirection ?? 'desc',
    nextToken,
    pageSize,
  })
  const { integrationName: name } = filter
  const named = name && (await botProfiles.of(actor.botId)).aliasFor(name)
  if (alias !== undefined && (named ?? alias) !== alias) {
    return { rows: [], nextToken: undefined }
  }
  return await store.pageConversations(
    db,
    actor.botId,
    {
      integration: alias ?? named,
      channel: filter.channel,
      tags: storedFilter(alias, filter.tags ?? {}),
      participantIds: filter.participantIds ?? [],
      after: timeOf('afterDate', filter.afterDate, 'beginning'),
      before: timeOf('beforeDate', filter.beforeDate, 'end'),
      minMessages: filter.minMessageCount,
      maxMessages: filter.maxMessageCount,
    },
    page,
  )
}

/**
 * Sets the current workflow of a conversation, if the conversation exists.
 * @param find is called once the conversation is locked; returns the id, or null when none runs
 */
async function showWorkflow(
  tx: Tx,
  { botId, id }: ConversationRef,
  find: () => Promise<string | null>,
): Promise<void> {
  const conversation = await store.lockConversation(tx, botId, id)
  if (conversation === undefined) return
  const current_workflow_id = await find()
  if (current_workflow_id === conversation.current_workflow_id) return
  await store.patchConversation(tx, botId, id, { current_workflow_id })
}

/**
 * Removes a conversation: from the commit on there is nothing under its ids, and its listeners are
 * disconnected. False if there is no such conversation.
 */
async function removeConversation(
  deps: ConversationsDeps,
  tx: Tx,
  conversation: ConversationRef,
): Promise<boolean> {
  const { botId, id } = conversation
  const last = { type: conversationEvents.conversationDeleted, subjectId: id }
  if ((await appendEvent(deps, tx, conversation, last)) === undefined) return false
  await store.deleteParticipantsOf(tx, botId, id)
  await store.deleteConversations(tx, botId, [id])
  await deleteTags(tx, botId, [id])
  await deps.domainEvents.raise(tx, 'conversation.removed', conversation)
  return true
}

/**
 * Removes a conversation in which nothing happened after it was opened: no message or event of a user or the bot, no
 * change, and nothing was stored for it.
 */
async function removeUnusedConversation(
  deps: ConversationsDeps,
  tx: Tx,
  ref: ConversationRef,
): Promise<void> {
  const conversation = await holdConversation(tx, ref)
  if (conversation === undefined || !isUntouched(conversation)) return
  let isKept = false
  const keep = () => {
    isKept = true
  }
  await deps.domainEvents.raise(tx, 'conversation.unused', { ...ref, keep })
  if (!isKept) await removeConversation(deps, tx, ref)
}

async function removeConversationById(
  deps: ConversationsParts,
  actor: BotActor,
  id: string,
): Promise<void> {
  await deps.run(
    async (tx) => {
      await deps.requireVisible(tx, actor, id)
      // Another request may have removed it meanwhile.
      if (!(await removeConversation(deps, tx, { botId: actor.botId, id }))) throw deps.unknown(id)
    },
    { mayUseReserve: true },
  )
}

/**
 * Deletes the conversations of a deleted bot after their messages, so that an interrupted purge
 * can be repeated.
 */
async function purgeConversations(
  { run, db, emptying }: ConversationsParts,
  botId: string,
): Promise<void> {
  // Participants first, so that no user writes to an emptied conversation.
  await purgeRows(run, (tx, limit) => store.deleteSomeParticipants(tx, botId, limit))
  for (;;) {
    const conversationIds = await store.listConversationIds(db, botId, purgedAtOnce)
    if (conversationIds.length === 0) return
    await emptying.call(botId, conversationIds)
    await run((tx) => store.deleteConversations(tx, botId, conversationIds), {
      mayUseReserve: true,
    })
  }
}

/** Whether nothing happened in a conversation, except that the bot was notified that it was opened. */
function isUntouched(conversation: store.ConversationRow): boolean {
  const { message_count, last_sequence, start_event_id, tags, properties } = conversation
  return (
    message_count === 0 &&
    last_sequence <= (start_event_id === null ? 0 : 1) &&
    tags === '{}' &&
    properties === '{}' &&
    conversation.current_workflow_id === null
  )
}

function isVisible(actor: BotActor, conversation: store.ConversationRow): boolean {
  const alias = aliasOf(actor)
  return alias === undefined || conversation.integration === alias
}

/**
 * The declaration of a channel by an integration; undefined if it declares no channels or is not
 * installed. Throws `ReferenceNotFound` if it declares only other channels.
 */
function requireChannel(installed: InstalledAs | undefined, alias: string, channel: string) {
  const channels = installed?.declares?.channels ?? {}
  const names = Object.keys(channels)
  if (names.length === 0 || Object.hasOwn(channels, channel)) return channels[channel]
  throw new ApiError(
    'ReferenceNotFound',
    `body.channel: ${alias} has no channel ${channel}; it has ${names.join(', ')}.`,
    { metadata: { in: 'body', field: 'channel' } },
  )
}

/** Whether a chosen id is already the native id of a conversation. */
async function isNativeId(tx: Tx, owner: Member, id: string): Promise<boolean> {
  return id.startsWith('conv_') && (await store.findConversation(tx, owner.botId, id)) !== undefined
}

function tagged(conversation: store.ConversationRow) {
  return { botId: conversation.bot_id, kind: 'conversation' as const, id: conversation.id }
}

function taken(id: string | undefined, cause?: unknown): ApiError {
  return new ApiError('AlreadyExists', `body.id: the conversation ${id} exists already.`, { cause })
}
