import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import type { BotActor } from '../../platform/actor.js'
import { isoTime } from '../../platform/clock.js'
import { decodeJson, encodeBoolean, encodeJson } from '../../platform/db/columns.js'
import type { Page } from '../../platform/db/paginate.js'
import type { Remember } from '../../platform/idempotency/remember.js'
import { storedFilter, type Tags } from '../../platform/tags.js'
import type { Db, Tx } from '../../schema.js'
import type { Audience } from '../bots/index.js'
import { aliasOf, type Maker, makerOf, tagsFor, timeOf } from '../runtime/index.js'
import { newTags, patchedProperties, patchedTags, replaceTags, tagMatchOf } from '../tags/index.js'
import { requireChannel } from './channels.js'
import type { ConversationRef } from './news.js'
import type { ConversationsDeps } from './service.js'
import * as store from './store.js'
import { toConversation } from './view.js'

type NewConversation = Body<typeof contract.conversations.create>
type WantedConversation = Body<typeof contract.conversations.getOrCreate>
type ConversationPatch = Body<typeof contract.conversations.update>
type ConversationQuery = Query<typeof contract.conversations.list>

/** A conversation, and whether the call made it. */
export interface FoundConversation {
  conversation: store.ConversationRow
  created: boolean
}

/** Conversations as bots and integrations have them; all ids are native. */
export function runtimeConversations(
  deps: ConversationsDeps,
  draft: (botId: string) => store.ConversationRow,
  remove: (tx: Tx, conversation: ConversationRef) => Promise<boolean>,
) {
  const { db, run, dialect, clock, pager, chatAlias, audiences } = deps

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
    changes: Pick<ConversationPatch, 'tags' | 'properties'>,
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

  /** The conversation with an id, if the caller may see it. */
  async function find(
    executor: Db | Tx,
    actor: BotActor,
    id: string,
  ): Promise<store.ConversationRow | undefined> {
    const conversation = await store.findConversation(executor, actor.botId, id)
    return conversation !== undefined && isVisible(actor, conversation) ? conversation : undefined
  }

  /** Has an integration make a conversation of its own for the bot. */
  async function makeElsewhere(
    actor: BotActor,
    audience: Audience,
    maker: Maker,
    input: WantedConversation,
  ): Promise<store.ConversationRow> {
    const { channel, properties } = input
    const { alias } = maker
    const declared = requireChannel(maker, alias, channel)
    const creation = declared?.conversation.creation ?? { enabled: false, requiredTags: [] }
    const tags = tagsFor(maker, `conversations in the channel ${channel}`, creation, input.tags)
    const place = { botId: actor.botId, alias }
    const id = await deps.makers.make(place, 'create_conversation', { channel, tags })
    return await run(async (tx) => {
      const made = await store.lockConversation(tx, actor.botId, id)
      if (made?.integration !== alias) {
        throw new ApiError('Runtime', `${alias} made no conversation ${id} in this bot.`)
      }
      return await patch(tx, actor, audience, made, properties ? { properties } : {})
    })
  }

  /** In a transaction; see {@link getOrCreate}. */
  async function getOrCreateIn(
    tx: Tx,
    actor: BotActor,
    audience: Audience,
    wanted: WantedConversation,
  ): Promise<FoundConversation> {
    const found = await findIn(tx, actor, audience, wanted)
    if (found !== undefined) return { conversation: found, created: false }
    const conversation = newConversation(actor, audience, wanted)
    await insert(tx, conversation)
    return { conversation, created: true }
  }

  /** The one that the tags mean, with the other tags merged into it; undefined if there is none. */
  async function findIn(
    tx: Tx,
    actor: BotActor,
    audience: Audience,
    wanted: WantedConversation,
  ): Promise<store.ConversationRow | undefined> {
    const alias = aliasOf(actor)
    const integration = homeOf(actor, audience, wanted)
    const match = tagMatchOf(alias, wanted.tags, wanted.discriminateByTags)
    // Before looking: of two who find nothing, the second looks after the first has committed.
    await dialect.holdName(tx, `conversations ${actor.botId} ${integration}`)
    const scope = { integration, channel: wanted.channel }
    const found = await store.matchConversation(tx, actor.botId, scope, match)
    if (found === undefined) return undefined
    const conversation = (await store.lockConversation(tx, actor.botId, found.id)) ?? found
    const { tags, properties } = wanted
    const rest = { tags, ...(properties && { properties }) }
    return await patch(tx, actor, audience, conversation, rest)
  }

  return {
    /** Makes a conversation without participants, as a bot or an integration. */
    async create(
      actor: BotActor,
      input: NewConversation,
      remember: Remember<store.ConversationRow>,
    ): Promise<store.ConversationRow> {
      const audience = await audiences.of(actor.botId)
      const maker = makerOf(actor, audience, input.integrationName)
      if (maker !== undefined) {
        const made = await makeElsewhere(actor, audience, maker, input)
        await run(async (tx) => remember?.(tx, made))
        return made
      }
      const conversation = newConversation(actor, audience, input)
      await run(async (tx) => {
        await insert(tx, conversation)
        await remember?.(tx, conversation)
      })
      return conversation
    },

    async get(actor: BotActor, id: string): Promise<store.ConversationRow> {
      const conversation = await find(db, actor, id)
      if (conversation === undefined) throw unknownConversation(id)
      return conversation
    },

    /** The conversation with this native id, if the caller may see it. */
    findVisible: find,

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
          after: timeOf('afterDate', filter.afterDate),
          before: timeOf('beforeDate', filter.beforeDate),
          minMessages: filter.minMessageCount,
          maxMessages: filter.maxMessageCount,
        },
        page,
      )
    },

    getOrCreateIn,

    /** The one that the tags mean, with the other tags merged into it; made if there is none. */
    async getOrCreate(actor: BotActor, wanted: WantedConversation): Promise<FoundConversation> {
      const audience = await audiences.of(actor.botId)
      const maker = makerOf(actor, audience, wanted.integrationName)
      if (maker === undefined) return await run((tx) => getOrCreateIn(tx, actor, audience, wanted))
      const found = await run((tx) => findIn(tx, actor, audience, wanted))
      if (found !== undefined) return { conversation: found, created: false }
      const conversation = await makeElsewhere(actor, audience, maker, wanted)
      return { conversation, created: true }
    },

    async update(
      actor: BotActor,
      id: string,
      changes: ConversationPatch,
    ): Promise<store.ConversationRow> {
      const audience = await audiences.of(actor.botId)
      return await run(async (tx) => {
        const conversation = await store.lockConversation(tx, actor.botId, id)
        if (conversation === undefined || !isVisible(actor, conversation)) {
          throw unknownConversation(id)
        }
        return await patch(tx, actor, audience, conversation, changes)
      })
    },

    async removeById(actor: BotActor, id: string): Promise<void> {
      await run(async (tx) => {
        const conversation = await find(tx, actor, id)
        const ref = { botId: actor.botId, id }
        if (conversation === undefined || !(await remove(tx, ref))) throw unknownConversation(id)
      })
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

function unknownConversation(id: string): ApiError {
  return new ApiError('ResourceNotFound', `There is no conversation ${id} in this bot.`)
}
