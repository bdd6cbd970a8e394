import { ApiError } from '@botstead/contract'
import { isoTime } from '../../../platform/clock.js'
import type { Page, PageRequest } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { Remember } from '../../../platform/idempotency/remember.js'
import { type ConversationRef, type conversationLog, news, type Told } from './news.js'
import * as participants from './participant-store.js'
import * as places from './place-store.js'
import type { ConversationsDeps } from './service.js'
import * as store from './store.js'

/** A user inside a bot. */
export interface Member {
  botId: string
  /** Native id. */
  userId: string
}

/** Conversations as their participants have them; ids of conversations are foreign or native here. */
export function membership(
  { db, dialect, clock }: Pick<ConversationsDeps, 'db' | 'dialect' | 'clock'>,
  draft: (botId: string) => store.ConversationRow,
  tell: ReturnType<typeof conversationLog>['tell'],
) {
  async function join(tx: Tx, conversationId: string, member: Member): Promise<boolean> {
    return await participants.insertParticipant(tx, {
      conversation_id: conversationId,
      user_id: member.userId,
      bot_id: member.botId,
      created_at: isoTime(clock.now()),
    })
  }

  return {
    /**
     * Opens a conversation that belongs to a user, who takes part in it.
     * @param foreignId id to give it; throws `AlreadyExists` if it is taken
     */
    async open(
      tx: Tx,
      owner: Member & { alias: string },
      foreignId: string | undefined,
      remember: Remember<store.ConversationRow>,
    ): Promise<store.ConversationRow> {
      const conversation: store.ConversationRow = {
        ...draft(owner.botId),
        foreign_id: foreignId ?? null,
        integration: owner.alias,
        owner_user_id: owner.userId,
      }
      if (foreignId !== undefined && (await isNativeId(tx, owner, foreignId))) {
        throw taken(foreignId)
      }
      // Before the conversation: a repetition that runs at the same time must stumble over its key
      // and get the first answer, not over the id that the first one took.
      await remember?.(tx, conversation)
      try {
        await store.insertConversation(tx, conversation)
      } catch (error) {
        if (dialect.isUniqueViolation(error)) throw taken(foreignId, error)
        throw error
      }
      await join(tx, conversation.id, owner)
      return conversation
    },

    /** The conversation and whether the user takes part in it; undefined if there is none. */
    async findFor(executor: Db | Tx, member: Member, conversationId: string) {
      return await participants.findConversationFor(
        executor,
        member.botId,
        conversationId,
        member.userId,
      )
    },

    /** Makes the user the owner of a conversation that has none yet; does nothing if it has one. */
    async claim(tx: Tx, member: Member, conversationId: string): Promise<void> {
      const id = await participants.claimConversation(
        tx,
        member.botId,
        conversationId,
        member.userId,
      )
      if (id !== undefined) await join(tx, id, member)
    },

    /** Makes everything else that happens in a conversation wait until the transaction ends. */
    async hold(tx: Tx, { botId, id }: ConversationRef): Promise<void> {
      await store.lockConversation(tx, botId, id)
    },

    /** Lets a user take part and tells the others; undefined, and nothing is told, if it did already. */
    async addParticipant(
      tx: Tx,
      conversation: ConversationRef,
      user: { id: string; publicId: string },
    ): Promise<Told | undefined> {
      const { botId, id } = conversation
      if (!(await join(tx, id, { botId, userId: user.id }))) return undefined
      const data = { participantId: user.publicId }
      return await tell(tx, conversation, { type: news.participantAdded, subjectId: user.id, data })
    },

    /** Ends the part of a user and tells the others; undefined if it took none. */
    async removeParticipant(
      tx: Tx,
      conversation: ConversationRef,
      user: { id: string; publicId: string },
    ): Promise<Told | undefined> {
      const { botId, id } = conversation
      if (!(await participants.deleteParticipant(tx, botId, id, user.id))) return undefined
      const data = { participantId: user.publicId }
      return await tell(tx, conversation, {
        type: news.participantRemoved,
        subjectId: user.id,
        data,
      })
    },

    /** Takes a user who is being deleted out of everything; nobody is told. */
    async forgetUser(tx: Tx, member: Member): Promise<void> {
      await participants.deleteParticipations(tx, member.botId, member.userId)
      await store.disownConversations(tx, member.botId, member.userId)
    },

    /** The users who take part in a conversation, newest user first. */
    async listParticipants(conversation: ConversationRef, page: PageRequest<'created_at'>) {
      return await participants.pageParticipants(db, conversation.botId, conversation.id, page)
    },

    /** The conversations that a user owns. */
    async listOwned(
      member: Member,
      page: PageRequest<'created_at'>,
    ): Promise<Page<store.ConversationRow>> {
      return await store.pageOwnedConversations(db, member.botId, member.userId, page)
    },

    /**
     * Takes the place of the next message of a participant; undefined if the user takes part in no
     * such conversation.
     * @param now milliseconds since the Unix epoch
     */
    advance(
      tx: Tx,
      member: Member,
      conversationId: string,
      now: number,
    ): Promise<places.Place | undefined> {
      return places.advanceConversation(tx, {
        botId: member.botId,
        conversationId,
        userId: member.userId,
        now,
        updatedAt: isoTime(now),
      })
    },
  }
}

/** The id under which participants know a conversation. */
export function publicIdOf(conversation: Pick<store.ConversationRow, 'id' | 'foreign_id'>): string {
  return conversation.foreign_id ?? conversation.id
}

/** An id that is chosen must not name another conversation already. */
async function isNativeId(tx: Tx, owner: Member, id: string): Promise<boolean> {
  return id.startsWith('conv_') && (await store.findConversation(tx, owner.botId, id)) !== undefined
}

function taken(id: string | undefined, cause?: unknown): ApiError {
  return new ApiError('AlreadyExists', `body.id: there is a conversation ${id} already.`, { cause })
}
