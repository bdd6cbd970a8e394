import { ApiError, type contract, type Query } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import { noReference } from '../../../domain/refusals.js'
import { bound } from '../../../platform/bound.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Page, PageRequest } from '../../../platform/db/paginate.js'
import type { Db, Run, Tx } from '../../../platform/db/schema.js'
import type { EventPublisher } from '../../../platform/events/publisher.js'
import { publicIdOf, type UserRow, type UsersService } from '../users/index.js'
import { appendEvent, conversationEvents, type EventPosition } from './log.js'
import type { ConversationRef, Member } from './slot-store.js'
import * as slots from './slot-store.js'
import * as store from './store.js'

type ParticipantQuery = Query<typeof contract.conversations.listParticipants>

/** A user who joins or leaves, by native and by public id. */
interface Person {
  id: string
  publicId: string
}

/** The author of a message, and whether the author is a participant already. */
interface Author extends Person {
  participates: boolean
}

export interface ParticipantsDeps {
  db: Db
  run: Run
  clock: Clock
  pager: Pager
  /** Log of what happens in conversations. */
  publisher: EventPublisher
  users: Pick<UsersService, 'findVisible' | 'findMember' | 'pageMembers' | 'participants'>
}

interface ParticipantsParts extends ParticipantsDeps {
  /** Throws unless the conversation exists and is visible to the caller. */
  requireConversation(actor: BotActor, id: string): Promise<unknown>
}

/** Adds and removes participants of conversations, for chat users, bots and integrations. */
export function createParticipants(deps: ParticipantsParts) {
  deps.users.participants.fill((id) => store.participantsOf(deps.db, id))

  return {
    ...bound(deps, {
      join,
      claim,
      addParticipantIn,
      removeParticipantIn,
      addParticipant,
      removeParticipant,
      getParticipant,
      pageOfParticipants,
      listParticipants,
      takeSlot,
      countImported,
    }),
    findFor: store.findConversationFor,
    forgetUser,
    takeSlotOfParticipant: slots.takeSlotOfParticipant,
  }
}

/** Adds a user without logging it; returns whether the user was added. */
export async function join(
  { clock }: Pick<ParticipantsDeps, 'clock'>,
  tx: Tx,
  conversationId: string,
  member: Member,
): Promise<boolean> {
  return await store.insertParticipant(tx, {
    conversation_id: conversationId,
    user_id: member.userId,
    bot_id: member.botId,
    created_at: isoTime(clock.now()),
  })
}

/** Makes the user the owner of a conversation that has none; does nothing if it has one. */
async function claim(
  deps: ParticipantsParts,
  tx: Tx,
  member: Member,
  conversationId: string,
): Promise<void> {
  const { botId, userId } = member
  const id = await store.claimConversation(tx, botId, conversationId, userId)
  if (id !== undefined) await join(deps, tx, id, member)
}

/** Adds a user and logs it; undefined, without logging, if the user took part already. */
async function addParticipantIn(
  deps: ParticipantsParts,
  tx: Tx,
  conversation: ConversationRef,
  user: Person,
): Promise<EventPosition | undefined> {
  const { botId, id } = conversation
  if (!(await join(deps, tx, id, { botId, userId: user.id }))) return undefined
  return await appendEvent(deps, tx, conversation, {
    type: conversationEvents.participantAdded,
    subjectId: user.id,
    data: { participantId: user.publicId },
  })
}

/** Removes a user and logs it; undefined if the user took no part. */
async function removeParticipantIn(
  deps: ParticipantsParts,
  tx: Tx,
  conversation: ConversationRef,
  user: Person,
): Promise<EventPosition | undefined> {
  const { botId, id } = conversation
  if (!(await store.deleteParticipant(tx, botId, id, user.id))) return undefined
  return await appendEvent(deps, tx, conversation, {
    type: conversationEvents.participantRemoved,
    subjectId: user.id,
    data: { participantId: user.publicId },
  })
}

/** Adds a user. The bot takes part everywhere; adding it only lists it. */
async function addParticipant(
  deps: ParticipantsParts,
  actor: BotActor,
  id: string,
  userId: string,
): Promise<UserRow> {
  await deps.requireConversation(actor, id)
  const { botId } = actor
  return await deps.run(async (tx) => {
    const user = await deps.users.findVisible(tx, actor, userId)
    if (user === undefined) {
      throw noReference('body.userId', 'user', userId)
    }
    await addParticipantIn(deps, tx, { botId, id }, { id: userId, publicId: publicIdOf(user) })
    return user
  })
}

async function removeParticipant(
  deps: ParticipantsParts,
  actor: BotActor,
  id: string,
  userId: string,
): Promise<void> {
  const user = await getParticipant(deps, actor, id, userId)
  const { botId } = actor
  await deps.run(
    (tx) =>
      removeParticipantIn(deps, tx, { botId, id }, { id: userId, publicId: publicIdOf(user) }),
    { mayUseReserve: true },
  )
}

async function getParticipant(
  { requireConversation, users, db }: ParticipantsParts,
  actor: BotActor,
  id: string,
  userId: string,
): Promise<UserRow> {
  await requireConversation(actor, id)
  const user = await users.findMember(db, actor.botId, store.participantsOf(db, id), userId)
  if (user !== undefined) return user
  throw new ApiError(
    'ResourceNotFound',
    `The user ${userId} is not a participant of conversation ${id} of this bot.`,
  )
}

/** Newest user first. */
async function pageOfParticipants(
  deps: ParticipantsParts,
  actor: BotActor,
  id: string,
  { nextToken, pageSize }: ParticipantQuery,
): Promise<Page<UserRow>> {
  await deps.requireConversation(actor, id)
  const page = deps.pager.page({
    operation: 'listParticipants',
    scope: id,
    sort: 'created_at',
    direction: 'desc',
    nextToken,
    pageSize,
  })
  return await listParticipants(deps, { botId: actor.botId, id }, page)
}

/** The users who take part in a conversation, in the order of the page. */
async function listParticipants(
  { users, db }: ParticipantsParts,
  conversation: ConversationRef,
  page: PageRequest<'created_at'>,
): Promise<Page<UserRow>> {
  return await users.pageMembers(
    db,
    conversation.botId,
    store.participantsOf(db, conversation.id),
    page,
  )
}

/** Removes a user who is being deleted from all conversations; nothing is logged. */
async function forgetUser(tx: Tx, { botId, userId }: Member): Promise<void> {
  // Conversations before their participants, as in their own deletion: otherwise two deletions wait for each other.
  await store.disownConversations(tx, botId, userId)
  await store.deleteParticipations(tx, botId, userId)
}

/**
 * Takes the slot of the next message of an author and adds the author as a participant. Undefined
 * if there is no such conversation. The bot takes part without being listed.
 */
async function takeSlot(
  deps: ParticipantsParts,
  tx: Tx,
  conversation: ConversationRef,
  author: Author,
): Promise<slots.MessageSlot | undefined> {
  if (!author.participates && author.id !== conversation.botId) {
    await addParticipantIn(deps, tx, conversation, author)
  }
  return await slots.takeSlotOfAuthor(tx, conversation, deps.clock.now())
}

/** Counts a message that an author wrote elsewhere at some time, in milliseconds. */
async function countImported(
  deps: ParticipantsParts,
  tx: Tx,
  conversation: ConversationRef,
  author: Author,
  writtenAt: number,
): Promise<void> {
  const { botId, id } = conversation
  if (!author.participates && author.id !== botId) {
    await addParticipantIn(deps, tx, conversation, author)
  }
  await slots.countImported(tx, botId, id, writtenAt)
}
