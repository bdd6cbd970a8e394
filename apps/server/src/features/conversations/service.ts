import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import type { BotActor } from '../../platform/actor.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import { encodeBoolean, encodeJson } from '../../platform/db/columns.js'
import type { Dialect } from '../../platform/db/dialect.js'
import type { Pager } from '../../platform/db/pager.js'
import type { Page } from '../../platform/db/paginate.js'
import { purge } from '../../platform/db/purge.js'
import type { EventPublisher } from '../../platform/events/publisher.js'
import type { Remember } from '../../platform/idempotency/remember.js'
import type { Ids } from '../../platform/ids.js'
import { storedFilter, storedTags } from '../../platform/tags.js'
import type { Db, Run, Tx } from '../../schema.js'
import { membership } from './membership.js'
import { type ConversationRef, conversationLog, news } from './news.js'
import * as participants from './participant-store.js'
import * as store from './store.js'

export type { ConversationRow } from './store.js'

type NewConversation = Body<typeof contract.conversations.create>
type ConversationQuery = Query<typeof contract.conversations.list>

export interface ConversationsDeps {
  db: Db
  run: Run
  dialect: Dialect
  clock: Clock
  ids: Ids
  pager: Pager
  events: EventPublisher
  /** Alias of the integration behind chat addresses: conversations belong to it unless said otherwise. */
  chatAlias: string
}

const purgedAtOnce = 100

export type ConversationsService = ReturnType<typeof createConversationsService>

export function createConversationsService(deps: ConversationsDeps) {
  const { db, run, clock, ids, pager, chatAlias } = deps

  function draft(botId: string): store.ConversationRow {
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
      created_at: now,
      updated_at: now,
    }
  }

  const log = conversationLog(deps)

  return {
    ...log,
    ...membership(deps, draft, log.tell),

    /** Makes a conversation without participants, as a bot or an integration. */
    async create(
      actor: BotActor,
      input: NewConversation,
      remember: Remember<store.ConversationRow>,
    ): Promise<store.ConversationRow> {
      const alias = aliasOf(actor)
      const conversation: store.ConversationRow = {
        ...draft(actor.botId),
        integration: alias ?? input.integrationName ?? chatAlias,
        channel: input.channel,
        tags: encodeJson(storedTags(alias, input.tags)),
        properties: encodeJson(storedTags(undefined, input.properties ?? {})),
        // What an integration makes has users of its own, except for the chat itself.
        claimable: encodeBoolean(alias === undefined || alias === chatAlias),
      }
      await run(async (tx) => {
        await store.insertConversation(tx, conversation)
        await remember?.(tx, conversation)
      })
      return conversation
    },

    async get(actor: BotActor, id: string): Promise<store.ConversationRow> {
      const conversation = await store.findConversation(db, actor.botId, id)
      const alias = aliasOf(actor)
      if (
        conversation === undefined ||
        (alias !== undefined && conversation.integration !== alias)
      ) {
        throw new ApiError('ResourceNotFound', `There is no conversation ${id} in this bot.`)
      }
      return conversation
    },

    async list(actor: BotActor, query: ConversationQuery): Promise<Page<store.ConversationRow>> {
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
      if (alias !== undefined && (filter.integrationName ?? alias) !== alias) {
        return { rows: [], nextToken: undefined }
      }
      return await store.pageConversations(
        db,
        actor.botId,
        {
          integration: alias ?? filter.integrationName,
          channel: filter.channel,
          tags: storedFilter(alias, filter.tags ?? {}),
          participantIds: filter.participantIds ?? [],
          after: timeOf('afterDate', filter.afterDate),
          before: timeOf('beforeDate', filter.beforeDate),
          minMessages: filter.minMessageCount,
          maxMessages: filter.maxMessageCount,
        },
        page,
      )
    },

    /**
     * Removes a conversation: from the commit on there is nothing under its ids, and its listeners
     * are sent away. What lies in it is removed by the caller. False if there is no such conversation.
     */
    async remove(tx: Tx, conversation: ConversationRef): Promise<boolean> {
      const { botId, id } = conversation
      const last = { type: news.conversationDeleted, subjectId: id }
      if ((await log.tell(tx, conversation, last)) === undefined) return false
      await participants.deleteParticipantsOf(tx, botId, id)
      await store.deleteConversations(tx, botId, [id])
      return true
    },

    /**
     * Removes the conversations that a deleted bot left behind.
     * @param empty removes what lies in some of them; they stand until it is done, so that a purge
     * that was interrupted can be repeated
     */
    async purge(
      botId: string,
      empty: (conversationIds: readonly string[]) => Promise<void>,
    ): Promise<void> {
      // First of all, so that nobody puts anything into what was emptied.
      await purge(run, (tx, limit) => participants.deleteSomeParticipants(tx, botId, limit))
      for (;;) {
        const conversationIds = await store.listConversationIds(db, botId, purgedAtOnce)
        if (conversationIds.length === 0) return
        await empty(conversationIds)
        await run((tx) => store.deleteConversations(tx, botId, conversationIds))
      }
    },
  }
}

/** Alias of the integration that calls; undefined for the bot and people. */
export function aliasOf(actor: BotActor): string | undefined {
  return actor.caller.type === 'integration' ? actor.caller.alias : undefined
}

function timeOf(name: string, given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  const time = Date.parse(given)
  // The format allows leap seconds, which have no place on the clock of the server.
  if (Number.isNaN(time)) {
    throw new ApiError('InvalidQuery', `query.${name} is not a time that exists.`, {
      metadata: { in: 'query', field: name },
    })
  }
  return isoTime(time)
}
