import type { Body, contract, Query } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import { aliasOf } from '../../../domain/caller.js'
import { storedFilter, type Tags } from '../../../domain/tags.js'
import { timeOf } from '../../../domain/times.js'
import { isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeBoolean, encodeJson } from '../../../platform/db/columns.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { Audience } from '../../bots/bots/index.js'
import { tagsFor } from '../../calls/makers/index.js'
import {
  newTags,
  patchedProperties,
  patchedTags,
  replaceTags,
  taggedObjects,
} from '../tags/index.js'
import { requireChannel } from './channels.js'
import type { ConversationRef } from './news.js'
import type { ConversationsDeps } from './service.js'
import * as store from './store.js'
import { toConversation } from './view.js'

type WantedConversation = Body<typeof contract.conversations.getOrCreate>
type ConversationPatch = Body<typeof contract.conversations.update>
type Changes = Pick<ConversationPatch, 'tags' | 'properties'>
type ConversationQuery = Query<typeof contract.conversations.list>

/** Conversations as bots and integrations have them; all ids are native. */
export function runtimeConversations(
  deps: ConversationsDeps,
  draft: (botId: string) => store.ConversationRow,
  remove: (tx: Tx, conversation: ConversationRef) => Promise<boolean>,
) {
  const { db, run, clock, pager, chatAlias, audiences } = deps

  function homeOf(actor: BotActor, audience: Audience, input: WantedConversation): string {
    const { integrationName: name } = input
    return aliasOf(actor) ?? (name === undefined ? chatAlias : audience.aliasFor(name))
  }

  function newConversation(
    actor: BotActor,
    audience: Audience,
    input: WantedConversation,
  ): store.ConversationRow {
    const alias = aliasOf(actor)
    if (alias !== undefined) requireChannel(audience.installationOf(alias), alias, input.channel)
    return {
      ...draft(actor.botId),
      integration: homeOf(actor, audience, input),
      channel: input.channel,
      tags: encodeJson(newTags(alias, input.tags)),
      properties: encodeJson(patchedProperties({}, input.properties)),
      // What an integration makes has users of its own, except for the chat itself.
      claimable: encodeBoolean(alias === undefined || alias === chatAlias),
    }
  }

  async function insert(tx: Tx, conversation: store.ConversationRow): Promise<void> {
    await store.insertConversation(tx, conversation)
    await replaceTags(tx, tagged(conversation), {}, decodeJson<Tags>(conversation.tags))
  }

  /** Stores what a patch changes; a patch that changes nothing writes nothing. */
  async function patch(
    tx: Tx,
    actor: BotActor,
    audience: Audience,
    conversation: store.ConversationRow,
    changes: Changes,
  ): Promise<store.ConversationRow> {
    const alias = aliasOf(actor)
    const before = decodeJson<Tags>(conversation.tags)
    const after = patchedTags(alias, before, changes.tags)
    const tags = encodeJson(after)
    const properties = encodeJson(
      patchedProperties(decodeJson(conversation.properties), changes.properties),
    )
    if (tags === conversation.tags && properties === conversation.properties) return conversation
    const next = { tags, properties, updated_at: isoTime(clock.now()) }
    await store.patchConversation(tx, conversation.bot_id, conversation.id, next)
    await replaceTags(tx, tagged(conversation), before, after)
    const changed = { ...conversation, ...next }
    const { id, integration } = conversation
    await deps.changes.note(tx, actor, audience, {
      ...{ kind: 'conversation_updated', integration, conversationId: id, objectId: id },
      view: (alias) => ({
        before: toConversation(conversation, alias),
        after: toConversation(changed, alias),
      }),
    })
    return changed
  }

  const { unknown, findVisible, requireVisible, getOrCreateIn, ...objects } = taggedObjects<
    store.ConversationRow,
    WantedConversation,
    Changes
  >(deps, {
    noun: 'conversation',
    ...{ homeOf, isVisible, draft: newConversation, insert, patch },
    find: store.findConversation,
    lock: store.lockConversation,
    match: (tx, botId, integration, { channel }, match) =>
      store.matchConversation(tx, botId, { integration, channel }, match),
    mergedInto: ({ tags, properties }) => ({
      ...{ tags, ...(properties && { properties }) },
    }),
    orderOf(maker, { channel, tags }) {
      const declared = requireChannel(maker, maker.alias, channel)
      const creation = declared?.conversation.creation ?? { enabled: false, requiredTags: [] }
      return {
        channel,
        tags: tagsFor(maker, `conversations in the channel ${channel}`, creation, tags),
      }
    },
    addedTo: ({ properties }) => (properties ? { properties } : {}),
  })

  return {
    ...objects,
    findVisible,
    getOrCreateIn,

    /** The conversations with these native ids, in any order. */
    async findAll(executor: Db | Tx, botId: string, ids: readonly string[]) {
      return await store.findConversations(executor, botId, [...new Set(ids)])
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
      const { integrationName: name } = filter
      const asked = name && (await audiences.of(actor.botId)).aliasFor(name)
      if (alias !== undefined && (asked ?? alias) !== alias) {
        return { rows: [], nextToken: undefined }
      }
      return await store.pageConversations(
        db,
        actor.botId,
        {
          integration: alias ?? asked,
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
    },

    async removeById(actor: BotActor, id: string): Promise<void> {
      await run(
        async (tx) => {
          await requireVisible(tx, actor, id)
          // Somebody else may have removed it meanwhile.
          if (!(await remove(tx, { botId: actor.botId, id }))) throw unknown(id)
        },
        { freesRoom: true },
      )
    },
  }
}

function isVisible(actor: BotActor, conversation: store.ConversationRow): boolean {
  const alias = aliasOf(actor)
  return alias === undefined || conversation.integration === alias
}

function tagged(conversation: store.ConversationRow) {
  return { botId: conversation.bot_id, kind: 'conversation' as const, id: conversation.id }
}
