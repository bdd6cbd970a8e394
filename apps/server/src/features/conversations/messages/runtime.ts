import { ApiError, type Body, type contract, type Query } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import { aliasOf } from '../../../domain/caller.js'
import { encodePayload } from '../../../domain/payload.js'
import { storedFilter, type Tags } from '../../../domain/tags.js'
import { dueTimeOf, timeOf } from '../../../domain/times.js'
import { isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { Remember } from '../../../platform/idempotency/remember.js'
import type { Audience } from '../../bots/bots/index.js'
import type { Place } from '../conversations/index.js'
import {
  deleteTags,
  newTags,
  patchedTags,
  replaceTags,
  type TagsPatch,
  tagMatchOf,
} from '../tags/index.js'
import { authorOf } from './author.js'
import { planMessage, toPlanned } from './planned.js'
import * as store from './runtime-store.js'
import type { MessagesDeps, NewMessage } from './service.js'
import { requireMessageShape } from './shapes.js'
import { findMessage, type MessageRow } from './store.js'
import { toMessage } from './view.js'

type CreateInput = Body<typeof contract.messages.create>
type WantedMessage = Body<typeof contract.messages.getOrCreate>
type MessagePatch = Body<typeof contract.messages.update>
type MessageQuery = Query<typeof contract.messages.list>

/** What there is of a message that is put into its place now or later. */
export interface Draft {
  userId: string
  conversationId: string
  type: string
  payload: Record<string, unknown>
  tags: TagsPatch
  origin?: 'synthetic' | undefined
  /** Milliseconds since the Unix epoch; undefined for now. */
  dueAt?: number | undefined
  /** Where it stands in the body, with a dot behind it; undefined when it is the body. */
  place?: string
}

/** A message, and whether the call made it. */
export interface FoundMessage {
  message: MessageRow
  created: boolean
}

type Append = (tx: Tx, place: Place, message: NewMessage, audience: Audience) => Promise<MessageRow>

/** Messages as bots and integrations have them; all ids are native. */
export function runtimeMessages(
  deps: MessagesDeps,
  append: Append,
  remove: (tx: Tx, message: MessageRow) => Promise<unknown>,
) {
  const { db, run, clock, dialect, pager, conversations, audiences } = deps
  const author = authorOf(deps)
  const plan = planMessage(deps)

  /** Creates a message in a transaction, as the actor. */
  async function createIn(
    tx: Tx,
    actor: BotActor,
    audience: Audience,
    draft: Draft,
  ): Promise<MessageRow> {
    const { botId } = actor
    const { conversationId, userId, type, dueAt } = draft
    const alias = aliasOf(actor)
    const who = await author(tx, actor, conversationId, userId)
    requireMessageShape(audience, who.conversation, draft, draft.place)
    const tags = newTags(alias, draft.tags)
    const message = {
      ...{ botId, userId, type, origin: draft.origin ?? null },
      direction: alias === undefined ? ('outgoing' as const) : ('incoming' as const),
      payload: encodePayload(draft.payload, deps.maxPayloadBytes),
      tags: Object.keys(tags).length === 0 ? null : encodeJson(tags),
    }
    const made =
      dueAt === undefined
        ? await appendBy(tx, audience, conversationId, who, message)
        : await plan(tx, conversationId, message, dueAt)
    if (message.tags !== null)
      await replaceTags(tx, { botId, kind: 'message', id: made.id }, {}, tags)
    return made
  }

  async function appendBy(
    tx: Tx,
    audience: Audience,
    conversationId: string,
    who: { id: string; publicId: string; participates: boolean },
    message: NewMessage,
  ): Promise<MessageRow> {
    const conversation = { botId: message.botId, id: conversationId }
    const place = await conversations.takePlace(tx, conversation, who)
    if (place === undefined) throw unknownConversation(conversationId)
    return await append(tx, place, message, audience)
  }

  /** Stores what a patch changes; a patch that changes nothing writes nothing. */
  async function patch(
    tx: Tx,
    actor: BotActor,
    audience: Audience,
    { integration }: Pick<Place, 'integration'>,
    message: MessageRow,
    changes: MessagePatch,
  ): Promise<MessageRow> {
    const alias = aliasOf(actor)
    const before = decodeJson<Tags>(message.tags ?? '{}')
    const after = patchedTags(alias, before, changes.tags)
    const tags = Object.keys(after).length === 0 ? null : encodeJson(after)
    const payload =
      changes.payload === undefined
        ? message.payload
        : encodePayload(changes.payload, deps.maxPayloadBytes)
    if (tags === message.tags && payload === message.payload) return message
    const next = { tags, payload, updated_at: isoTime(clock.now()) }
    await store.patchMessage(tx, message.bot_id, message.id, next)
    await replaceTags(tx, { botId: message.bot_id, kind: 'message', id: message.id }, before, after)
    const changed = { ...message, ...next }
    await deps.changes.note(tx, actor, audience, {
      ...{ kind: 'message_updated', integration, conversationId: message.conversation_id },
      objectId: message.id,
      view: (alias) => ({ before: toMessage(message, alias), after: toMessage(changed, alias) }),
    })
    return changed
  }

  async function getOrCreateIn(
    tx: Tx,
    actor: BotActor,
    audience: Audience,
    wanted: Draft & { discriminateByTags?: string[] | undefined },
  ): Promise<FoundMessage> {
    const { botId } = actor
    const { conversationId, discriminateByTags } = wanted
    const alias = aliasOf(actor)
    const conversation = await conversations.findVisible(tx, actor, conversationId)
    if (conversation === undefined) throw unknownConversation(conversationId)
    const match = tagMatchOf(alias, wanted.tags, discriminateByTags)
    // Before looking: of two who find nothing, the second looks after the first has committed.
    await dialect.holdName(tx, `messages ${conversationId}`)
    const found = await store.matchMessage(tx, botId, conversationId, match)
    if (found !== undefined) {
      const message = (await store.lockMessage(tx, botId, found.id)) ?? found
      const rest = { tags: wanted.tags }
      const patched = await patch(tx, actor, audience, conversation, message, rest)
      return { message: patched, created: false }
    }
    const planned = await store.matchScheduled(tx, botId, conversationId, match)
    if (planned !== undefined) return { message: toPlanned(planned), created: false }
    return { message: await createIn(tx, actor, audience, wanted), created: true }
  }

  /** The message with an id, also one that is to come, if the caller may see it. */
  async function require(actor: BotActor, id: string): Promise<MessageRow> {
    const placed = await store.findPlacedMessage(db, actor.botId, id)
    if (placed !== undefined && isVisible(actor, placed.integration)) return placed.message
    const planned = await store.findScheduled(db, actor.botId, id)
    if (planned !== undefined && isVisible(actor, planned.integration)) {
      return toPlanned(planned.message)
    }
    throw unknownMessage(id)
  }

  return {
    createIn,
    getOrCreateIn,

    /** Creates a message: incoming from an integration, outgoing from everybody else. */
    async create(
      actor: BotActor,
      input: CreateInput,
      remember: Remember<MessageRow>,
    ): Promise<MessageRow> {
      const dueAt = dueTimeOf(input.schedule, clock.now())
      const audience = await audiences.of(actor.botId)
      return await run(async (tx) => {
        const message = await createIn(tx, actor, audience, { ...input, dueAt })
        await remember?.(tx, message)
        return message
      })
    },

    /** The one that the tags mean, with the other tags merged into it; made if there is none. */
    async getOrCreate(actor: BotActor, input: WantedMessage): Promise<FoundMessage> {
      const dueAt = dueTimeOf(input.schedule, clock.now())
      const audience = await audiences.of(actor.botId)
      const wanted = { ...input, payload: input.payload ?? {}, dueAt }
      return await run((tx) => getOrCreateIn(tx, actor, audience, wanted))
    },

    get: require,

    /** Whether the message is there for the caller to see. */
    async exists(executor: Db | Tx, actor: BotActor, id: string): Promise<boolean> {
      const placed = await store.findPlacedMessage(executor, actor.botId, id)
      return placed !== undefined && isVisible(actor, placed.integration)
    },

    async update(actor: BotActor, id: string, changes: MessagePatch): Promise<MessageRow> {
      await require(actor, id)
      const audience = await audiences.of(actor.botId)
      return await run(async (tx) => {
        const message = await store.lockMessage(tx, actor.botId, id)
        if (message === undefined) throw unknownMessage(id)
        const { conversation_id: conversationId, type } = message
        const conversation = await conversations.findVisible(tx, actor, conversationId)
        if (conversation === undefined) throw unknownMessage(id)
        if (changes.payload !== undefined) {
          requireMessageShape(audience, conversation, { type, payload: changes.payload })
        }
        return await patch(tx, actor, audience, conversation, message, changes)
      })
    },

    /** Newest first. */
    async list(actor: BotActor, query: MessageQuery): Promise<Page<MessageRow>> {
      const { nextToken, pageSize, ...filter } = query
      const alias = aliasOf(actor)
      const page = pager.page({
        operation: 'listMessages',
        scope: `${actor.botId}/${alias ?? ''}`,
        filter,
        sort: 'created_at',
        direction: 'desc',
        nextToken,
        pageSize,
      })
      const { conversationId } = filter
      if (
        conversationId !== undefined &&
        (await conversations.findVisible(db, actor, conversationId)) === undefined
      ) {
        throw unknownConversation(conversationId, 'query')
      }
      return await store.pageAllMessages(
        db,
        actor.botId,
        {
          integration: alias,
          conversationId: filter.conversationId,
          tags: storedFilter(alias, filter.tags ?? {}),
          after: timeOf('afterDate', filter.afterDate, 'beginning'),
          before: timeOf('beforeDate', filter.beforeDate, 'end'),
        },
        page,
      )
    },

    /** Removes a message, or cancels one that is to come. */
    async removeById(actor: BotActor, id: string): Promise<void> {
      await require(actor, id)
      await run(
        async (tx) => {
          const message = await findMessage(tx, actor.botId, id)
          if (message !== undefined) {
            await remove(tx, message)
            return
          }
          await store.takeScheduled(tx, actor.botId, id)
          await deleteTags(tx, actor.botId, [id])
        },
        { freesRoom: true },
      )
    },
  }
}

function isVisible(actor: BotActor, integration: string): boolean {
  const alias = aliasOf(actor)
  return alias === undefined || alias === integration
}

function unknownMessage(id: string): ApiError {
  return new ApiError('ResourceNotFound', `There is no message ${id} in this bot.`)
}

function unknownConversation(id: string, place: 'body' | 'query' = 'body'): ApiError {
  const message = `${place}.conversationId: there is no conversation ${id}.`
  return new ApiError('ReferenceNotFound', message, {
    metadata: { in: place, field: 'conversationId' },
  })
}
