import type { Body, contract } from '@botstead/contract'
import { aliasOf, type BotActor } from '../../../domain/actor.js'
import { encodePayload } from '../../../domain/payload.js'
import { noReference } from '../../../domain/refusals.js'
import { dueTimeOf } from '../../../domain/times.js'
import { encodeJson } from '../../../platform/db/columns.js'
import type { Dialect } from '../../../platform/db/dialect.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import type { BotProfile } from '../../bots/bots/index.js'
import type { ConversationsService } from '../conversations/index.js'
import { newTags, replaceTags, type TagsPatch, tagMatchOf } from '../tags/index.js'
import type { UsersService } from '../users/index.js'
import { appendMessage } from './append.js'
import { requireAuthor, requireMessageShape } from './authors.js'
import { type ScheduledMessagesDeps, scheduleMessage, toMessageRow } from './scheduled.js'
import * as store from './store.js'
import { patchMessage, type UpdatesDeps } from './updates.js'

type CreateInput = Body<typeof contract.messages.create>
type WantedMessage = Body<typeof contract.messages.getOrCreate>

/** A message to append now or later. */
interface MessageDraft {
  userId: string
  conversationId: string
  type: string
  payload: Record<string, unknown>
  tags: TagsPatch
  discriminateByTags?: string[] | undefined
  origin?: 'synthetic' | undefined
  /** Milliseconds since the Unix epoch; undefined for now. */
  dueAt?: number | undefined
  /** Path of the message in the body, with a trailing dot; undefined when it is the body. */
  path?: string
}

/** A message, and whether the call created it. */
interface GetOrCreateResult {
  message: store.MessageRow
  created: boolean
}

export interface CreationDeps extends ScheduledMessagesDeps, UpdatesDeps {
  dialect: Dialect
  users: Pick<UsersService, 'findVisible' | 'findAll'>
  conversations: Pick<
    ConversationsService,
    'findFor' | 'findVisible' | 'takeSlot' | 'appendEvent' | 'hold'
  >
}

/** Creates a message: incoming from an integration, outgoing from everybody else. */
export async function createMessage(
  deps: CreationDeps,
  actor: BotActor,
  input: CreateInput,
  remember: Remember<store.MessageRow>,
): Promise<store.MessageRow> {
  const dueAt = dueTimeOf(input.schedule, deps.clock.now())
  const profile = await deps.botProfiles.of(actor.botId)
  return await deps.run(async (tx) => {
    const message = await createMessageIn(deps, tx, actor, profile, { ...input, dueAt })
    await remember?.(tx, message)
    return message
  })
}

/** Creates a message in the transaction of the caller, as `createMessage` does. */
export async function createMessageIn(
  deps: CreationDeps,
  tx: Tx,
  actor: BotActor,
  profile: BotProfile,
  draft: MessageDraft,
): Promise<store.MessageRow> {
  const { botId } = actor
  const { conversationId, userId, type, dueAt } = draft
  const alias = aliasOf(actor)
  const author = await requireAuthor(deps, tx, actor, conversationId, userId)
  requireMessageShape(profile, author.conversation, draft, draft.path)
  const tags = newTags(alias, draft.tags)
  const message = {
    botId,
    userId,
    type,
    origin: draft.origin ?? null,
    direction: alias === undefined ? ('outgoing' as const) : ('incoming' as const),
    payload: encodePayload(draft.payload, deps.maxPayloadBytes),
    tags: Object.keys(tags).length === 0 ? null : encodeJson(tags),
  }
  let made: store.MessageRow
  if (dueAt === undefined) {
    const slot = await deps.conversations.takeSlot(tx, { botId, id: conversationId }, author)
    if (slot === undefined) throw noReference('body.conversationId', 'conversation', conversationId)
    made = await appendMessage(deps, tx, slot, message, profile)
  } else {
    made = await scheduleMessage(deps, tx, conversationId, profile, message, dueAt)
  }
  if (message.tags !== null) {
    await replaceTags(tx, { botId, kind: 'message', id: made.id }, {}, tags)
  }
  return made
}

/**
 * The message that the tags identify, with the other tags merged in; created if there is none.
 */
export async function getOrCreateMessage(
  deps: CreationDeps,
  actor: BotActor,
  input: WantedMessage,
): Promise<GetOrCreateResult> {
  const dueAt = dueTimeOf(input.schedule, deps.clock.now())
  const profile = await deps.botProfiles.of(actor.botId)
  const wanted = { ...input, payload: input.payload ?? {}, dueAt }
  return await deps.run((tx) => getOrCreateMessageIn(deps, tx, actor, profile, wanted))
}

/** Returns or creates a message in the transaction of the caller, as `getOrCreateMessage` does. */
export async function getOrCreateMessageIn(
  deps: CreationDeps,
  tx: Tx,
  actor: BotActor,
  profile: BotProfile,
  wanted: MessageDraft,
): Promise<GetOrCreateResult> {
  const { botId } = actor
  const { conversationId, discriminateByTags, tags } = wanted
  const conversation = await deps.conversations.findVisible(tx, actor, conversationId)
  if (conversation === undefined) {
    throw noReference('body.conversationId', 'conversation', conversationId)
  }
  const match = tagMatchOf(aliasOf(actor), tags, discriminateByTags)
  // Locked before the lookup, so that the second of two callers searches after the first commits.
  await deps.dialect.holdName(tx, `messages ${conversationId}`)
  const found = await store.matchMessage(tx, botId, conversationId, match)
  if (found !== undefined) {
    const message = (await store.lockMessage(tx, botId, found.id)) ?? found
    const { integration } = conversation
    const patched = await patchMessage(deps, tx, actor, profile, integration, message, { tags })
    return { message: patched, created: false }
  }
  const waiting = await store.matchScheduled(tx, botId, conversationId, match)
  if (waiting !== undefined) return { message: toMessageRow(waiting), created: false }
  return { message: await createMessageIn(deps, tx, actor, profile, wanted), created: true }
}
