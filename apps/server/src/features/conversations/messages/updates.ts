import type { Body, contract } from '@botstead/contract'
import { aliasOf, type BotActor } from '../../../domain/actor.js'
import { encodePayload } from '../../../domain/payload.js'
import { notFound } from '../../../domain/refusals.js'
import type { Tags } from '../../../domain/tags.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { BotProfile } from '../../bots/bots/index.js'
import {
  type ConversationsService,
  conversationEvents,
  type EventPosition,
} from '../conversations/index.js'
import type { Changes } from '../object-changes/index.js'
import { patchedTags, replaceTags } from '../tags/index.js'
import * as store from './store.js'
import { toMessage } from './view.js'

export type MessagePatch = Body<typeof contract.messages.update>

export interface UpdatesDeps {
  clock: Clock
  changes: Pick<Changes, 'record'>
  conversations: Pick<ConversationsService, 'appendEvent' | 'hold'>
  /** Maximum bytes of a payload. */
  maxPayloadBytes: number
}

/** Notifies the listeners of the conversation of a changed message; undefined if there is no conversation. */
export async function logUpdate(
  { conversations }: UpdatesDeps,
  tx: Tx,
  {
    id,
    bot_id: botId,
    conversation_id,
  }: Pick<store.MessageRow, 'id' | 'bot_id' | 'conversation_id'>,
): Promise<EventPosition | undefined> {
  return await conversations.appendEvent(
    tx,
    { botId, id: conversation_id },
    { type: conversationEvents.messageUpdated, subjectId: id },
  )
}

/** Replaces the payload of a message of a chat user, from `encodePayload`, and logs it. */
export async function replacePayload(
  deps: UpdatesDeps,
  tx: Tx,
  message: store.MessageRow,
  type: string,
  payload: string,
): Promise<{ message: store.MessageRow; position: EventPosition | undefined }> {
  const { id, bot_id: botId, conversation_id } = message
  await deps.conversations.hold(tx, { botId, id: conversation_id })
  if ((await store.lockMessage(tx, botId, id)) === undefined) {
    throw notFound('message', id)
  }
  const next = { type, payload, updated_at: isoTime(deps.clock.now()) }
  await store.patchMessage(tx, botId, id, next)
  return { message: { ...message, ...next }, position: await logUpdate(deps, tx, message) }
}

/** Stores a patch; writes nothing if it changes nothing. */
export async function patchMessage(
  deps: UpdatesDeps,
  tx: Tx,
  actor: BotActor,
  profile: BotProfile,
  integration: string,
  message: store.MessageRow,
  wanted: MessagePatch,
): Promise<store.MessageRow> {
  const before = decodeJson<Tags>(message.tags ?? '{}')
  const after = patchedTags(aliasOf(actor), before, wanted.tags)
  const tags = Object.keys(after).length === 0 ? null : encodeJson(after)
  const payload =
    wanted.payload === undefined
      ? message.payload
      : encodePayload(wanted.payload, deps.maxPayloadBytes)
  if (tags === message.tags && payload === message.payload) return message
  const next = { tags, payload, updated_at: isoTime(deps.clock.now()) }
  await store.patchMessage(tx, message.bot_id, message.id, next)
  await replaceTags(tx, { botId: message.bot_id, kind: 'message', id: message.id }, before, after)
  const changed = { ...message, ...next }
  if (payload !== message.payload) await logUpdate(deps, tx, message)
  await deps.changes.record(tx, actor, profile, {
    kind: 'message_updated',
    integration,
    conversationId: message.conversation_id,
    objectId: message.id,
    view: (alias) => ({ before: toMessage(message, alias), after: toMessage(changed, alias) }),
  })
  return changed
}
