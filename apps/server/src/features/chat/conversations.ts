import { ApiError, type Body, type contract, type Params, type Query } from '@botstead/contract'
import type { ChatUserActor } from '../../domain/actor.js'
import { fieldError, noReference, notFound } from '../../domain/refusals.js'
import { bound } from '../../platform/bound.js'
import type { Pager } from '../../platform/db/pager.js'
import type { Page } from '../../platform/db/paginate.js'
import type { Remember } from '../../platform/idempotency/store.js'
import type { ConversationRow } from '../conversations/conversations/index.js'
import { publicIdOf, type UserRow } from '../conversations/users/index.js'
import { type ChatAccess, type ChatAccessDeps, notOwner } from './access.js'
import type { ListenersOfAll } from './listeners-of-all.js'

type NewConversation = Body<typeof contract.chat.createConversation>
type ListQuery = Query<typeof contract.chat.listConversations>
type ParticipantPath = Params<typeof contract.chat.getParticipant>
type ParticipantsQuery = Query<typeof contract.chat.listParticipants>

export interface ConversationOperationsDeps extends ChatAccessDeps {
  pager: Pager
  streams: Pick<ListenersOfAll, 'waitForListeners'>
}

interface ConversationOperationsParts extends ConversationOperationsDeps {
  access: ChatAccess
}

const perPage = 50

/** Operations of users on conversations, and of owners on participants. */
export function conversationOperations(deps: ConversationOperationsDeps, access: ChatAccess) {
  return bound(
    { ...deps, access },
    {
      createConversation,
      getOrCreateConversation,
      listConversations,
      getConversation,
      deleteConversation,
      listParticipants,
      getParticipant,
      addParticipant,
      removeParticipant,
    },
  )
}

async function findOrOpen(
  { run, access, conversations }: ConversationOperationsParts,
  actor: ChatUserActor,
  id: string,
): Promise<ConversationRow> {
  return await run(async (tx) => {
    const user = await access.requireUser(tx, actor)
    const { botId, alias } = actor.chat
    const member = { botId, userId: user.id }
    // Also by its native id; otherwise a second conversation could get that as its chosen id.
    await conversations.claim(tx, member, id)
    const found = await conversations.findFor(tx, member, id)
    if (found === undefined)
      return await conversations.open(tx, { ...member, alias }, id, undefined)
    if (found.conversation.owner_user_id !== user.id) throw notOwner(id)
    return found.conversation
  })
}

async function createConversation(
  { run, access, conversations }: ConversationOperationsParts,
  actor: ChatUserActor,
  input: NewConversation,
  remember: Remember<ConversationRow>,
): Promise<ConversationRow> {
  const { botId, alias } = actor.chat
  return await run(async (tx) => {
    const user = await access.requireUser(tx, actor)
    const owner = { botId, userId: user.id, alias }
    return await conversations.open(tx, owner, input.id, remember)
  })
}

async function getOrCreateConversation(
  deps: ConversationOperationsParts,
  actor: ChatUserActor,
  id: string,
): Promise<ConversationRow> {
  try {
    return await findOrOpen(deps, actor, id)
  } catch (error) {
    // A concurrent request opened it, so it can be found now.
    if (error instanceof ApiError && error.type === 'AlreadyExists') {
      return await findOrOpen(deps, actor, id)
    }
    throw error
  }
}

/** The conversations that the user owns, newest first. */
async function listConversations(
  { access, db, pager, conversations }: ConversationOperationsParts,
  actor: ChatUserActor,
  query: ListQuery,
): Promise<Page<ConversationRow>> {
  const user = await access.requireUser(db, actor)
  const page = pager.page({
    operation: 'chatListConversations',
    scope: user.id,
    sort: 'created_at',
    direction: 'desc',
    nextToken: query.nextToken,
    pageSize: perPage,
  })
  return await conversations.listOwned({ botId: user.bot_id, userId: user.id }, page)
}

/** The first user to open a conversation that has no owner yet becomes its owner. */
async function getConversation(
  { access }: ConversationOperationsParts,
  actor: ChatUserActor,
  id: string,
): Promise<ConversationRow> {
  const opened = await access.openConversation(actor, id)
  if (opened !== undefined) return opened.conversation
  throw notFound('conversation', id)
}

/** Deletes a conversation of the user with everything in it. */
async function deleteConversation(
  { run, access, conversations }: ConversationOperationsParts,
  actor: ChatUserActor,
  id: string,
): Promise<void> {
  await run(
    async (tx) => {
      const { conversation } = await access.requireOwner(tx, actor, id)
      const { bot_id: botId, id: conversationId } = conversation
      await conversations.remove(tx, { botId, id: conversationId })
    },
    { mayUseReserve: true },
  )
}

async function listParticipants(
  { access, pager, conversations }: ConversationOperationsParts,
  actor: ChatUserActor,
  conversationId: string,
  query: ParticipantsQuery,
): Promise<Page<UserRow>> {
  const { conversation } = await access.requireParticipant(actor, conversationId)
  const page = pager.page({
    operation: 'chatListParticipants',
    scope: conversation.id,
    sort: 'created_at',
    direction: 'desc',
    nextToken: query.nextToken,
    pageSize: perPage,
  })
  return await conversations.listParticipants(refOf(conversation), page)
}

async function getParticipant(
  { access, db, users, conversations }: ConversationOperationsParts,
  actor: ChatUserActor,
  path: ParticipantPath,
): Promise<UserRow> {
  const { conversation } = await access.requireOwner(db, actor, path.conversationId)
  const { botId } = actor.chat
  const user = await users.find(db, botId, path.userId)
  const member = { botId, userId: user?.id ?? path.userId }
  const found = await conversations.findFor(db, member, conversation.id)
  if (user === undefined || !found?.participates) throw noParticipant(path)
  return user
}

/** Adding a participant again changes nothing and notifies nobody. */
async function addParticipant(
  { run, access, users, conversations, streams }: ConversationOperationsParts,
  actor: ChatUserActor,
  conversationId: string,
  userId: string,
): Promise<UserRow> {
  const { user, position, conversation } = await run(async (tx) => {
    const { conversation } = await access.requireOwner(tx, actor, conversationId)
    const user = await users.find(tx, actor.chat.botId, userId)
    if (user === undefined) {
      throw noReference('body.userId', 'user', userId)
    }
    const ref = refOf(conversation)
    const position = await conversations.addParticipantIn(tx, ref, asParticipant(user))
    return { user, position, conversation }
  })
  if (position) await streams.waitForListeners(conversation.id, position.sequence)
  return user
}

async function removeParticipant(
  { run, access, users, conversations, streams }: ConversationOperationsParts,
  actor: ChatUserActor,
  path: ParticipantPath,
): Promise<void> {
  const { position, conversation } = await run(
    async (tx) => {
      const owned = await access.requireOwner(tx, actor, path.conversationId)
      const user = await users.find(tx, actor.chat.botId, path.userId)
      if (user?.id === owned.user.id) {
        throw fieldError(
          'params.userId',
          'is the owner of the conversation, who cannot be removed.',
        )
      }
      const { conversation } = owned
      const position =
        user &&
        (await conversations.removeParticipantIn(tx, refOf(conversation), asParticipant(user)))
      if (position === undefined) throw noParticipant(path)
      return { position, conversation }
    },
    { mayUseReserve: true },
  )
  await streams.waitForListeners(conversation.id, position.sequence)
}

function refOf(conversation: { bot_id: string; id: string }) {
  return { botId: conversation.bot_id, id: conversation.id }
}

function asParticipant(user: UserRow) {
  return { id: user.id, publicId: publicIdOf(user) }
}

function noParticipant({ conversationId, userId }: ParticipantPath): ApiError {
  return new ApiError(
    'ResourceNotFound',
    `The user ${userId} is not a participant of conversation ${conversationId}.`,
  )
}
