import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import type { ChatUserActor } from '../../domain/actor.js'
import type { Pager } from '../../platform/db/pager.js'
import type { Page } from '../../platform/db/paginate.js'
import type { Remember } from '../../platform/idempotency/remember.js'
import type { ConversationRow } from '../conversations/conversations/index.js'
import { type Callers, type CallersDeps, notOwner } from './callers.js'

type NewConversation = Body<typeof contract.chat.createConversation>
type ListQuery = Query<typeof contract.chat.listConversations>

export interface ConversationOperationsDeps extends CallersDeps {
  pager: Pager
}

const perPage = 50

/** What users do with conversations. */
export function conversationOperations(deps: ConversationOperationsDeps, callers: Callers) {
  const { db, run, pager, conversations } = deps

  async function findOrOpen(actor: ChatUserActor, id: string): Promise<ConversationRow> {
    return await run(async (tx) => {
      const user = await callers.requireUser(tx, actor)
      const { botId, alias } = actor.chat
      const member = { botId, userId: user.id }
      // By its native id too: otherwise a second conversation would get that as its chosen id.
      await conversations.claim(tx, member, id)
      const found = await conversations.findFor(tx, member, id)
      if (found === undefined)
        return await conversations.open(tx, { ...member, alias }, id, undefined)
      if (found.conversation.owner_user_id !== user.id) throw notOwner(id)
      return found.conversation
    })
  }

  return {
    async createConversation(
      actor: ChatUserActor,
      input: NewConversation,
      remember: Remember<ConversationRow>,
    ): Promise<ConversationRow> {
      const { botId, alias } = actor.chat
      return await run(async (tx) => {
        const user = await callers.requireUser(tx, actor)
        const owner = { botId, userId: user.id, alias }
        return await conversations.open(tx, owner, input.id, remember)
      })
    },

    async getOrCreateConversation(actor: ChatUserActor, id: string): Promise<ConversationRow> {
      try {
        return await findOrOpen(actor, id)
      } catch (error) {
        // Somebody opened it at the same time: now it is there to be found.
        if (error instanceof ApiError && error.type === 'AlreadyExists') {
          return await findOrOpen(actor, id)
        }
        throw error
      }
    },

    /** Those that the user owns, newest first. */
    async listConversations(
      actor: ChatUserActor,
      query: ListQuery,
    ): Promise<Page<ConversationRow>> {
      const user = await callers.requireUser(db, actor)
      const page = pager.page({
        operation: 'chatListConversations',
        scope: user.id,
        sort: 'created_at',
        direction: 'desc',
        nextToken: query.nextToken,
        pageSize: perPage,
      })
      return await conversations.listOwned({ botId: user.bot_id, userId: user.id }, page)
    },

    /** The first user to open a conversation that has no owner yet becomes its owner. */
    async getConversation(actor: ChatUserActor, id: string): Promise<ConversationRow> {
      const entered = await callers.enter(actor, id)
      if (entered !== undefined) return entered.conversation
      throw new ApiError('ResourceNotFound', `There is no conversation ${id}.`)
    },

    /** Removes a conversation of the user with all that lies in it. */
    async deleteConversation(actor: ChatUserActor, id: string): Promise<void> {
      await run(
        async (tx) => {
          const { conversation } = await callers.requireOwned(tx, actor, id)
          const { bot_id: botId, id: conversationId } = conversation
          await conversations.remove(tx, { botId, id: conversationId })
        },
        { freesRoom: true },
      )
    },
  }
}
