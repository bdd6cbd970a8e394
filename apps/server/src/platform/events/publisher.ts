import type { EventBus } from '../bus/event-bus.js'
import { encodeJson } from '../db/columns.js'
import { prepared } from '../db/prepared.js'
import type { Tx } from '../db/schema.js'
import { afterCommit } from '../db/transaction.js'
import {
  messagingAttributes,
  type SpanAttributes,
  signalKey,
  type Tracing,
} from '../telemetry/tracing.js'

/** Something that happened, before it has its place in a stream. */
export interface NewEvent {
  /** The stream of the sequence: the id of a conversation, or another name that is never reused. */
  stream: string
  botId: string
  type: string
  /** Id of what the event is about. */
  subjectId: string
  /** Ids that the reader needs beside the subject; small, as JSON can express it. */
  data?: unknown
  /** ISO 8601 time of the change. */
  createdAt: string
}

interface EventRow {
  stream: string
  sequence: number
  bot_id: string
  type: string
  subject_id: string
  data: string | null
  created_at: string
}

const insertEvent = prepared<EventRow>()((db, p) =>
  db.insertInto('events').values({
    stream: p('stream'),
    sequence: p('sequence'),
    bot_id: p('bot_id'),
    type: p('type'),
    subject_id: p('subject_id'),
    data: p('data'),
    created_at: p('created_at'),
  }),
)

const countUp = prepared<{ stream: string }>()((db, p) =>
  db
    .insertInto('event_streams')
    .values({ stream: p('stream'), last_sequence: 1, trimmed_sequence: 0 })
    .onConflict((conflict) =>
      conflict.column('stream').doUpdateSet((eb) => ({
        last_sequence: eb('event_streams.last_sequence', '+', 1),
      })),
    )
    .returning('last_sequence'),
)

/**
 * Writes an event whose number the caller has counted: one more than the last of its stream, taken
 * from a row that the same transaction keeps locked, so that the order of numbers is the order of
 * commits. After the commit the caller announces it.
 */
export async function appendEvent(tx: Tx, event: NewEvent & { sequence: number }): Promise<void> {
  await insertEvent(tx, {
    stream: event.stream,
    sequence: event.sequence,
    bot_id: event.botId,
    type: event.type,
    subject_id: event.subjectId,
    data: event.data === undefined ? null : encodeJson(event.data),
    created_at: event.createdAt,
  })
}

/**
 * Takes the next number of a stream that has no counter of its own. Another transaction that needs one waits
 * until this transaction ends, so it is taken late; rolled back, it is given out again.
 */
export async function nextSequence(tx: Tx, stream: string): Promise<number> {
  const row = await countUp.first(tx, { stream })
  if (!row) throw new Error(`The stream ${stream} gave no number`)
  return row.last_sequence
}

/** Writes an event to a stream that is counted here, and returns its number. */
export async function appendNextEvent(tx: Tx, event: NewEvent): Promise<number> {
  const sequence = await nextSequence(tx, event.stream)
  await appendEvent(tx, { ...event, sequence })
  return sequence
}

/** Attributes of an event for listeners. */
function signalAttributes({ stream, sequence, type }: NumberedEvent): SpanAttributes {
  return {
    'messaging.message.id': signalKey(stream, sequence),
    'messaging.message.conversation_id': stream,
    'botstead.event.type': type,
  }
}

/** Topic of the hints about events; the key is the stream. */
export const eventsTopic = 'events'

/** Wakes those who follow the stream. Called after the commit with the highest number written. */
export function announceEvents(bus: EventBus, stream: string, sequence: number): void {
  bus.publish({ topic: eventsTopic, key: stream, seq: sequence })
}

type NumberedEvent = NewEvent & { sequence: number }

/** Called in the transaction of each event; it awaits nothing but queries of `tx`. */
type EventTap = (tx: Tx, event: NumberedEvent) => Promise<void> | undefined

/** Writes events and wakes those who follow the log, after the commit. */
export interface EventPublisher {
  /** Writes an event whose number the caller has counted, see `appendEvent`. */
  publish(tx: Tx, event: NumberedEvent): Promise<void>
  /** Adds work that has to happen with every event, in the same transaction. */
  tap(tap: EventTap): void
}

/** Begins the span in which listeners of this process get an event. Without listeners it has no end, and is not sent. */
function announceSpan(tracing: Tracing, parent: string, event: NumberedEvent): void {
  const attributes = signalAttributes(event)
  const sent = tracing.begin('send signals', {
    kind: 'producer',
    parent,
    attributes: messagingAttributes('send', 'signals', attributes),
  })
  sent.end()
  const processed = tracing.begin('process signals', {
    kind: 'consumer',
    parent: sent.traceparent,
    attributes: messagingAttributes('process', 'signals', attributes),
  })
  tracing.signals.put(signalKey(event.stream, event.sequence), processed)
}

/** Makes a publisher that sends its hints over `bus`. */
export function createEventPublisher(bus: EventBus, tracing?: Tracing): EventPublisher {
  const taps: EventTap[] = []
  return {
    async publish(tx, event) {
      await appendEvent(tx, event)
      const parent = tracing?.current()
      afterCommit(tx, () => {
        if (tracing !== undefined && parent !== undefined) announceSpan(tracing, parent, event)
        announceEvents(bus, event.stream, event.sequence)
      })
      for (const tap of taps) {
        // Most taps have nothing to do with most events: nothing is awaited for them.
        const work = tap(tx, event)
        if (work !== undefined) await work
      }
    },
    tap(tap) {
      taps.push(tap)
    },
  }
}
