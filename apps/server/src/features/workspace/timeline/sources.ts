import { type Clock, isoTime } from '../../../platform/clock.js'
import type { PageRange, Position } from '../../../platform/db/paginate.js'
import type { Db } from '../../../platform/db/schema.js'
import { listSelectedEvents, type StoredEvent } from '../../../platform/events/read.js'
import { type LogLineRow, listLinesAbout } from '../../bots/log-lines/index.js'
import {
  type ConversationRow,
  conversationEvents,
} from '../../conversations/conversations/index.js'
import { type EventRow, listEventsIn } from '../../conversations/events/index.js'
import { listMessagesIn, type MessageRow } from '../../conversations/messages/index.js'
import { type ChangeRow, listChangesIn } from '../../conversations/object-changes/index.js'
import { listStatesIn, type StateRow } from '../../conversations/states/index.js'
import { listWorkflowsIn, type WorkflowRow } from '../../conversations/workflows/index.js'

/** An entry as it is stored, by the source that has it. */
export type Stored =
  | { source: 'conversation'; at: string; key: string; row: StoredEvent }
  | { source: 'message'; at: string; key: string; row: MessageRow }
  | { source: 'event'; at: string; key: string; row: EventRow }
  | { source: 'workflow'; at: string; key: string; row: WorkflowRow }
  | { source: 'state'; at: string; key: string; row: StateRow }
  | { source: 'change'; at: string; key: string; row: ChangeRow }
  | { source: 'log'; at: string; key: string; row: LogLineRow }

export type SourceName = Stored['source']

/** A part of a source: in one direction, behind a place, and no further than a time. */
export interface SourceRange {
  direction: 'asc' | 'desc'
  /** Behind this time and key. */
  after: Position | undefined
  size: number
  until: string | undefined
}

type Conversation = Pick<ConversationRow, 'id' | 'bot_id'>

/** Reads entries in the order of (time, key): one more than the size of the range, if there are more. */
type Read = (conversation: Conversation, range: SourceRange) => Promise<Stored[]>

/** Types of what the log of a conversation has beside messages; others are in sources of their own. */
const { messageDeleted, participantAdded, participantRemoved, eventCreated } = conversationEvents
const typesOf = {
  deletion: [messageDeleted],
  participant: [participantAdded, participantRemoved],
  customEvent: [eventCreated],
} as const
/** Digits of the greatest number of an event, so that the order of keys is that of numbers. */
const digits = 16
const greatest = Number.MAX_SAFE_INTEGER

/** The sources of a timeline; entries of the same millisecond are in the order of this list. */
export const sourceNames: readonly SourceName[] = [
  'conversation',
  'message',
  'event',
  'workflow',
  'state',
  'change',
  'log',
]

/** Behind every key. */
export const lastKey = '\u{10FFFF}'

/** @param kinds of the entries that are wanted; undefined for all */
export function createSources(
  { db, clock }: { db: Db; clock: Clock },
  workspaceId: string,
  kinds?: readonly string[],
): Record<SourceName, Read> {
  const wanted = (kind: keyof typeof typesOf) =>
    kinds === undefined || kinds.includes(kind) ? typesOf[kind] : []
  const inLog = {
    types: [...wanted('deletion'), ...wanted('participant')],
    // Custom events of users are stored as events, and are the subjects here.
    typesWithoutSubject: wanted('customEvent'),
  }
  return {
    async conversation({ id }, { direction, after, size }) {
      const events = await listSelectedEvents(db, id, inLog, {
        direction,
        after: after && {
          time: String(after.value),
          sequence: after.id === lastKey ? greatest : Number(after.id),
        },
        limit: size + 1,
      })
      return events.map((row) => ({
        source: 'conversation',
        at: row.createdAt,
        key: String(row.sequence).padStart(digits, '0'),
        row,
      }))
    },

    message: async ({ id }, range) =>
      (await listMessagesIn(db, id, rangeBy('created_at', range))).map((row) => ({
        source: 'message',
        at: row.created_at,
        key: row.id,
        row,
      })),

    event: async (conversation, range) =>
      (await listEventsIn(db, refOf(conversation), rangeBy('created_at', range), range.until)).map(
        (row) => ({ source: 'event', at: row.created_at, key: row.id, row }),
      ),

    workflow: async (conversation, range) =>
      (await listWorkflowsIn(db, refOf(conversation), rangeBy('created_at', range))).map((row) => ({
        source: 'workflow',
        at: row.created_at,
        key: row.id,
        row,
      })),

    async state(conversation, range) {
      const now = isoTime(clock.now())
      const rows = await listStatesIn(db, refOf(conversation), now, rangeBy('updated_at', range))
      return rows.map((row) => ({ source: 'state', at: row.updated_at, key: row.id, row }))
    },

    change: async ({ id, bot_id: botId }, range) =>
      (await listChangesIn(db, { botId, objectId: id }, rangeBy('created_at', range))).map(
        (row) => ({ source: 'change', at: row.created_at, key: row.id, row }),
      ),

    log: async (conversation, range) =>
      (
        await listLinesAbout(
          db,
          { workspaceId, ...refOf(conversation) },
          rangeBy('created_at', range),
        )
      ).map((row) => ({ source: 'log', at: row.created_at, key: row.id, row })),
  }
}

function refOf({ id, bot_id: botId }: Conversation) {
  return { botId, conversationId: id }
}

function rangeBy<Sort extends string>(
  sort: Sort,
  { direction, size, after }: SourceRange,
): PageRange<Sort> {
  return { sort, direction, size, after }
}
