import { ApiError, type contract, type Params, type Query } from '@botstead/contract'
import type { ChatUserActor } from '../../domain/actor.js'
import type { Pager } from '../../platform/db/pager.js'
import type { Page } from '../../platform/db/paginate.js'
import { publicIdOf, type UserRow } from '../conversations/users/index.js'
import type { Callers, CallersDeps } from './callers.js'
import type { Listening } from './streams/index.js'

type ParticipantPath = Params<typeof contract.chat.getParticipant>
type ListQuery = Query<typeof contract.chat.listParticipants>

export interface ParticipantOperationsDeps extends CallersDeps {
  pager: Pager
  listening: Pick<Listening, 'reached'>
}

const perPage = 50

/** What owners do with those who take part in their conversations. */
export function participantOperations(deps: ParticipantOperationsDeps, callers: Callers) {
  const { db, run, pager, users, conversations, listening } = deps
  return {
    async listParticipants(
      actor: ChatUserActor,
      conversationId: string,
      query: ListQuery,
    ): Promise<Page<UserRow>> {
      const { conversation } = await callers.requirePart(actor, conversationId)
      const page = pager.page({
        operation: 'chatListParticipants',
        scope: conversation.id,
        sort: 'created_at',
        direction: 'desc',
        nextToken: query.nextToken,
        pageSize: perPage,
      })
      return await conversations.listParticipants(refOf(conversation), page)
    },

    async getParticipant(actor: ChatUserActor, path: ParticipantPath): Promise<UserRow> {
      const { conversation } = await callers.requireOwned(db, actor, path.conversationId)
      const { botId } = actor.chat
      const user = await users.find(db, botId, path.userId)
      const member = { botId, userId: user?.id ?? path.userId }
      const found = await conversations.findFor(db, member, conversation.id)
      if (user === undefined || !found?.participates) throw noParticipant(path)
      return user
    },

    /** Adding somebody who takes part already changes nothing and tells nobody. */
    async addParticipant(
      actor: ChatUserActor,
      conversationId: string,
      userId: string,
    ): Promise<UserRow> {
      const { user, told, conversation } = await run(async (tx) => {
        const { conversation } = await callers.requireOwned(tx, actor, conversationId)
        const user = await users.find(tx, actor.chat.botId, userId)
        if (user === undefined) {
          throw new ApiError('ReferenceNotFound', `body.userId: there is no user ${userId}.`, {
            metadata: { in: 'body', field: 'userId' },
          })
        }
        const ref = refOf(conversation)
        const told = await conversations.addParticipant(tx, ref, asParticipant(user))
        return { user, told, conversation }
      })
      if (told) await listening.reached(conversation.id, told.sequence)
      return user
    },

    async removeParticipant(actor: ChatUserActor, path: ParticipantPath): Promise<void> {
      const { told, conversation } = await run(
        async (tx) => {
          const owned = await callers.requireOwned(tx, actor, path.conversationId)
          const user = await users.find(tx, actor.chat.botId, path.userId)
          if (user?.id === owned.user.id) {
            throw new ApiError(
              'InvalidPayload',
              'params.userId is the owner of the conversation, who cannot be removed.',
              { metadata: { in: 'params', field: 'userId' } },
            )
          }
          const { conversation } = owned
          const told =
            user &&
            (await conversations.removeParticipant(tx, refOf(conversation), asParticipant(user)))
          if (told === undefined) throw noParticipant(path)
          return { told, conversation }
        },
        { freesRoom: true },
      )
      await listening.reached(conversation.id, told.sequence)
    },
  }
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
    `No user ${userId} takes part in the conversation ${conversationId}.`,
  )
}
