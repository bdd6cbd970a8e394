import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { EventDispatcher } from '../../../platform/domain-events.js'
import type { Ids } from '../../../platform/ids.js'
import type { BotProfile } from '../../bots/bots/index.js'
import type { Meter } from '../../tenancy/metering/index.js'
import { type EventRow, insertEvent, patchEvent } from './store.js'

/** Something that happened in a bot. */
export interface NewEvent {
  botId: string
  /** Name of the event for the bot: `<alias>:<name>` for events of integrations. */
  type: string
  /** JSON object as text; null when it is built from the message each time. */
  payload: string | null
  /** Alias of the integration that creates it. */
  integration?: string | undefined
  conversationId?: string | undefined
  userId?: string | undefined
  messageId?: string | undefined
  workflowId?: string | undefined
  /** Name of the recurring event that creates it. */
  recurring?: string | undefined
  /** Whether the server promised it, such as the event of a state that expires: no quota refuses it. */
  isPromised?: boolean
}

export interface EventRecorderDeps {
  clock: Clock
  ids: Ids
  domainEvents: Pick<EventDispatcher, 'raise'>
  meter: Pick<Meter, 'call'>
}

/** Stores the events of bots, and requests deliveries to bots with an address. */
export function createEventRecorder({ clock, ids, domainEvents, meter }: EventRecorderDeps) {
  function draft(event: NewEvent, status: EventRow['status']): EventRow {
    return {
      id: ids.next('evt'),
      bot_id: event.botId,
      integration: event.integration ?? null,
      type: event.type,
      payload: event.payload,
      conversation_id: event.conversationId ?? null,
      user_id: event.userId ?? null,
      message_id: event.messageId ?? null,
      workflow_id: event.workflowId ?? null,
      recurring: event.recurring ?? null,
      status,
      failure_reason: null,
      created_at: isoTime(clock.now()),
      released_at: null,
    }
  }

  async function count(
    tx: Tx,
    { hasCallQuota: hasQuota }: Pick<BotProfile, 'hasCallQuota'>,
    { botId, isPromised = false }: NewEvent,
  ): Promise<void> {
    await meter.call(tx, { botId, kind: 'events', hasQuota, isPromised })
  }

  /** Requests the delivery; events about one conversation or workflow reach the bot in order. */
  function send(tx: Tx, event: EventRow): Promise<unknown> {
    return domainEvents.raise(tx, 'delivery.requested', {
      botId: event.bot_id,
      kind: 'event_received',
      subjectId: event.id,
      orderingKey: event.conversation_id ?? event.workflow_id ?? undefined,
    })
  }

  /**
   * Stores an event in the transaction of the change that it reports. It is delivered if the bot
   * has an address and wants its type; without an address it stays pending: see `createBackfill`.
   */
  async function record(
    tx: Tx,
    profile: Pick<BotProfile, 'wants' | 'listens' | 'hasCallQuota'>,
    event: NewEvent,
  ): Promise<EventRow> {
    const wanted = profile.wants(event.type)
    const row = draft(event, wanted ? 'pending' : 'ignored')
    await insertEvent(tx, row)
    // The event of a message has no payload of its own, and is counted with the message.
    if (event.payload !== null) await count(tx, profile, event)
    if (wanted && profile.listens) await send(tx, row)
    return row
  }

  /** Stores an event that happens later. It is counted now, so that its release need not be refused. */
  async function schedule(
    tx: Tx,
    profile: Pick<BotProfile, 'hasCallQuota'>,
    event: NewEvent,
  ): Promise<EventRow> {
    const row = draft(event, 'scheduled')
    await insertEvent(tx, row)
    await count(tx, profile, event)
    return row
  }

  /** Sends the bot an event that it missed and wants. */
  async function sendLate(
    tx: Tx,
    { bot_id: botId, id }: Pick<EventRow, 'bot_id' | 'id'>,
  ): Promise<void> {
    const patch = { released_at: isoTime(clock.now()) }
    const row = await patchEvent(tx, botId, id, ['pending'], patch)
    if (row !== undefined) await send(tx, row)
  }

  /** Releases a scheduled event; does nothing if it was cancelled or released already. */
  async function release(tx: Tx, profile: BotProfile, botId: string, id: string): Promise<void> {
    const released_at = isoTime(clock.now())
    const patch = { status: 'pending' as const, released_at }
    const row = await patchEvent(tx, botId, id, ['scheduled'], patch)
    if (row === undefined) return
    if (!profile.wants(row.type))
      await patchEvent(tx, botId, id, ['pending'], { status: 'ignored' })
    else if (profile.listens) await send(tx, row)
  }

  return { record, schedule, sendLate, release }
}
