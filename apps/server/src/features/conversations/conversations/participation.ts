import { ApiError, type contract, type Query } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import { isoTime } from '../../../platform/clock.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Tx } from '../../../platform/db/schema.js'
import { publicIdOf, type UserRow } from '../users/index.js'
import type { membership } from './membership.js'
import * as participants from './participant-store.js'
import * as places from './place-store.js'
import type { runtimeConversations } from './runtime.js'
import type { ConversationsDeps } from './service.js'

type ParticipantQuery = Query<typeof contract.conversations.listParticipants>

/** Who takes part in conversations, as bots and integrations decide it; all ids are native. */
export function participation(
  deps: ConversationsDeps,
  members: ReturnType<typeof membership>,
  runtime: Pick<ReturnType<typeof runtimeConversations>, 'get' | 'findVisible'>,
) {
  const { db, run, clock, pager, users } = deps

  return {
    /** Newest user first. */
    async pageOfParticipants(
      actor: BotActor,
      id: string,
      { nextToken, pageSize }: ParticipantQuery,
    ): Promise<Page<UserRow>> {
      await runtime.get(actor, id)
      const { botId } = actor
      const page = pager.page({
        ...{ operation: 'listParticipants', scope: id, sort: 'created_at', direction: 'desc' },
        ...{ nextToken, pageSize },
      })
      return await members.listParticipants({ botId, id }, page)
    },

    /** Lets a user take part. The bot hears and writes everywhere; added, it is listed too. */
    async letIn(actor: BotActor, id: string, userId: string): Promise<UserRow> {
      await runtime.get(actor, id)
      const { botId } = actor
      return await run(async (tx) => {
        const user = await users.findVisible(tx, actor, userId)
        if (user === undefined) {
          throw new ApiError('ReferenceNotFound', `body.userId: there is no user ${userId}.`, {
            metadata: { in: 'body', field: 'userId' },
          })
        }
        await members.addParticipant(tx, { botId, id }, { id: userId, publicId: publicIdOf(user) })
        return user
      })
    },

    async getParticipant(actor: BotActor, id: string, userId: string): Promise<UserRow> {
      await runtime.get(actor, id)
      const { botId } = actor
      const user = await participants.findParticipant(db, botId, id, userId)
      if (user === undefined) throw noParticipant(id, userId)
      return user
    },

    async sendAway(actor: BotActor, id: string, userId: string): Promise<void> {
      await runtime.get(actor, id)
      const { botId } = actor
      const user = await participants.findParticipant(db, botId, id, userId)
      if (user === undefined) throw noParticipant(id, userId)
      await run(
        (tx) =>
          members.removeParticipant(tx, { botId, id }, { id: userId, publicId: publicIdOf(user) }),
        { freesRoom: true },
      )
    },

    /**
     * The place of the next message of an author, who takes part from then on. Undefined if there is
     * no such conversation. The bot takes part without being listed.
     */
    async takePlace(
      tx: Tx,
      conversation: { botId: string; id: string },
      author: { id: string; publicId: string; participates: boolean },
    ): Promise<places.Place | undefined> {
      const { botId, id } = conversation
      if (!author.participates && author.id !== botId) {
        await members.addParticipant(tx, conversation, author)
      }
      const now = clock.now()
      return await places.advanceForAuthor(tx, {
        ...{ botId, conversationId: id, now, updatedAt: isoTime(now) },
      })
    },

    /** Counts a message that an author wrote elsewhere at some time, in milliseconds. */
    async countImported(
      tx: Tx,
      conversation: { botId: string; id: string },
      author: { id: string; publicId: string; participates: boolean },
      writtenAt: number,
    ): Promise<void> {
      const { botId, id } = conversation
      if (!author.participates && author.id !== botId) {
        await members.addParticipant(tx, conversation, author)
      }
      await places.countImported(tx, botId, id, writtenAt)
    },
  }
}

function noParticipant(id: string, userId: string): ApiError {
  return new ApiError(
    'ResourceNotFound',
    `The user ${userId} takes part in no conversation ${id} of this bot.`,
  )
}
