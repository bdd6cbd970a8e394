import { isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { EventPublisher } from '../../../platform/events/publisher.js'
import type { Ids } from '../../../platform/ids.js'
import type { BotProfile } from '../../bots/bots/index.js'
import type { Meter } from '../../tenancy/metering/index.js'
import { conversationEvents, type MessageSlot } from '../conversations/index.js'
import type { EventsService } from '../events/index.js'
import { insertMessage, type MessageRow } from './store.js'

/** A message in the shape for bots and integrations. */
export interface NewMessage {
  botId: string
  /** Native id of the author; the id of the bot for its own messages. */
  userId: string
  direction: MessageRow['direction']
  type: string
  /** Content as JSON text, from `encodePayload`. */
  payload: string
  /** JSON map of strings, as stored; null or left out when there are none. */
  tags?: string | null
  origin?: MessageRow['origin']
  /** Id of a scheduled message, which got it before its slot. */
  id?: string
}

export interface AppendDeps {
  ids: Ids
  /** Log of what happens in conversations. */
  publisher: EventPublisher
  /** Events of bots. */
  events: Pick<EventsService, 'record'>
  domainEvents: Pick<EventDispatcher, 'raise'>
  meter: Pick<Meter, 'call' | 'count'>
}

/** Type of the event that reports a message to a bot, and kind of the delivery to an integration. */
const messageCreated = 'message_created'

/**
 * The hot path of the server: stores a validated message in its slot, logs it in the conversation, and
 * notifies the bot of an incoming one, and the installation that owns the conversation of an outgoing one.
 */
export async function appendMessage(
  { ids, publisher, events, domainEvents, meter }: AppendDeps,
  tx: Tx,
  slot: MessageSlot,
  message: NewMessage,
  profile: BotProfile,
): Promise<MessageRow> {
  const { botId, userId } = message
  const createdAt = isoTime(slot.last_message_at)
  const row: MessageRow = {
    id: message.id ?? ids.next('msg'),
    bot_id: botId,
    conversation_id: slot.id,
    user_id: userId,
    type: message.type,
    payload: message.payload,
    direction: message.direction,
    tags: message.tags ?? null,
    origin: message.origin ?? null,
    sequence: slot.last_sequence,
    created_at: createdAt,
    updated_at: null,
  }
  await insertMessage(tx, row)
  await publisher.publish(tx, {
    stream: slot.id,
    sequence: slot.last_sequence,
    botId,
    type: conversationEvents.messageCreated,
    subjectId: row.id,
    createdAt,
  })
  if (message.direction === 'incoming') {
    // One that was scheduled was counted then.
    if (message.id === undefined) {
      const { hasCallQuota: hasQuota } = profile
      await meter.call(tx, { botId, kind: 'user_messages', hasQuota })
    }
    if (profile.listens) {
      await events.record(tx, profile, {
        botId,
        type: messageCreated,
        payload: null,
        messageId: row.id,
        conversationId: slot.id,
        userId,
      })
    }
  } else {
    meter.count(tx, botId, 'bot_messages')
    if (!profile.delivers(slot.integration)) return row
    await domainEvents.raise(tx, 'delivery.requested', {
      botId,
      integration: slot.integration,
      kind: messageCreated,
      subjectId: row.id,
      orderingKey: slot.id,
    })
  }
  return row
}
