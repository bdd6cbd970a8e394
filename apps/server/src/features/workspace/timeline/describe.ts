import type { contract, Output } from '@botstead/contract'
import { decodeJson } from '../../../platform/db/columns.js'
import type { Db } from '../../../platform/db/schema.js'
import type { StoredEvent } from '../../../platform/events/read.js'
import { toLog } from '../../bots/logs/index.js'
import {
  type ConversationRow,
  conversationEvents,
} from '../../conversations/conversations/index.js'
import { listReports, toEvent } from '../../conversations/events/index.js'
import { toMessage } from '../../conversations/messages/index.js'
import { listChangeIds } from '../../conversations/object-changes/index.js'
import { toState } from '../../conversations/states/index.js'
import type { UserRow, UsersService } from '../../conversations/users/index.js'
import { toWorkflow } from '../../conversations/workflows/index.js'
import { type DeliveryWithResult, listDeliveriesAbout, toDelivery } from '../../deliveries/index.js'
import { personOf } from '../conversations/index.js'
import type { Stored } from './sources.js'

export type WireEntry = Output<typeof contract.timeline.get>['entries'][number]
type WireDelivery = Extract<WireEntry, { kind: 'message' }>['deliveries'][number]

/** Deliveries of one page; an entry rarely has more than two. */
const maxDeliveries = 2000

export interface DescribeDeps {
  db: Db
  users: Pick<UsersService, 'findAll'>
}

type Conversation = Pick<ConversationRow, 'id' | 'bot_id'>

/** Adds names and deliveries to entries of a timeline. */
export function createDescribe({ db, users }: DescribeDeps) {
  /** Ids of the subjects under which something may be delivered, by the key of the entry. */
  async function subjectsOf({ id, bot_id: botId }: Conversation, entries: readonly Stored[]) {
    const messages = entries.flatMap((entry) => (entry.source === 'message' ? entry.row : []))
    const messageIds = messages.map((message) => message.id)
    const subjects = new Map<string, string>()
    if (messageIds.length > 0) {
      const [reports, changes] = await Promise.all([
        listReports(db, botId, messageIds),
        listChangeIds(db, botId, messageIds),
      ])
      for (const report of reports) subjects.set(report.id, report.message_id ?? '')
      for (const change of changes) subjects.set(change.id, change.object_id)
    }
    for (const entry of entries) {
      subjects.set(entry.key, entry.key)
      const sequence =
        entry.source === 'message' || entry.source === 'conversation' ? entry.row.sequence : 0
      if (sequence === 0) continue
      // Signals are delivered to the webhook of the chat under their place in the log.
      subjects.set(`${id}/${sequence}`, entry.key)
      subjects.set(`${id}/${sequence}/complete`, entry.key)
    }
    return subjects
  }

  async function deliveriesOf(conversation: Conversation, entries: readonly Stored[]) {
    const subjects = await subjectsOf(conversation, entries)
    const botId = conversation.bot_id
    const rows = await listDeliveriesAbout(db, botId, [...subjects.keys()], maxDeliveries)
    const byEntry = new Map<string, WireDelivery[]>()
    for (const row of rows) {
      const key = subjects.get(row.subject_id) ?? ''
      byEntry.set(key, [...(byEntry.get(key) ?? []), toWireDelivery(row)])
    }
    return byEntry
  }

  return async function describe(
    conversation: Conversation,
    entries: readonly Stored[],
  ): Promise<WireEntry[]> {
    const { id, bot_id: botId } = conversation
    const [deliveries, people] = await Promise.all([
      deliveriesOf(conversation, entries),
      users.findAll(db, botId, entries.flatMap(userIdOf)),
    ])
    const view: View = {
      conversationId: id,
      botId,
      users: new Map(people.map((user) => [user.id, user])),
    }
    return entries.map((entry) => toEntry(entry, view, deliveries.get(entry.key) ?? []))
  }
}

interface View {
  conversationId: string
  botId: string
  users: ReadonlyMap<string, UserRow>
}

/** Native id of the user whose name an entry shows. */
function userIdOf(entry: Stored): string[] {
  if (entry.source === 'message') return [entry.row.user_id]
  if (entry.source !== 'conversation') return []
  const { subjectId, data } = entry.row
  return [subjectId, authorIn(data) ?? ''].filter((id) => id !== '')
}

function authorIn(data: unknown): string | undefined {
  const { userId } = Object(data)
  return typeof userId === 'string' ? userId : undefined
}

function toEntry(entry: Stored, view: View, deliveries: WireDelivery[]): WireEntry {
  const { at, key: id } = entry
  switch (entry.source) {
    case 'message': {
      const author = personOf(view.botId, entry.row.user_id, view.users)
      return {
        kind: 'message',
        id,
        at,
        message: toMessage(entry.row, undefined),
        author,
        deliveries,
      }
    }
    case 'event': {
      const event = toEvent(entry.row, decodeJson(entry.row.payload ?? '{}'))
      return { kind: 'event', id, at, event, deliveries }
    }
    case 'workflow':
      return { kind: 'workflow', id, at, workflow: toWorkflow(entry.row) }
    case 'state':
      return { kind: 'state', id, at, state: toState(entry.row) }
    case 'change': {
      const { before, after } = entry.row
      return {
        kind: 'change',
        id,
        at,
        before: decodeJson(before),
        after: decodeJson(after),
        deliveries,
      }
    }
    case 'log':
      return { kind: 'log', id, at, log: toLog(entry.row) }
    case 'conversation':
      return toLogEntry(entry.row, view, deliveries)
    default:
      return entry satisfies never
  }
}

/** An entry of which only the log of the conversation knows. */
function toLogEntry(row: StoredEvent, view: View, deliveries: WireDelivery[]): WireEntry {
  const { type, subjectId, data } = row
  const place = { id: `${view.conversationId}/${row.sequence}`, at: row.createdAt }
  const author = authorIn(data)
  const person = (id: string) => personOf(view.botId, id, view.users)
  if (type === conversationEvents.messageDeleted) {
    return {
      kind: 'deletion',
      ...place,
      messageId: subjectId,
      ...(author !== undefined && { author: person(author) }),
      deliveries,
    }
  }
  if (type === conversationEvents.eventCreated) {
    const { payload = {} } = Object(data)
    return {
      kind: 'customEvent',
      ...place,
      author: person(author ?? view.botId),
      payload,
      deliveries,
    }
  }
  const change = type === conversationEvents.participantAdded ? 'added' : 'removed'
  return { kind: 'participant', ...place, change, participant: person(subjectId), deliveries }
}

function toWireDelivery(row: DeliveryWithResult): WireDelivery {
  return {
    ...toDelivery(row),
    isInProgress: row.status === 'pending' && row.owner !== null,
    ...(row.duration_ms !== null && { durationMs: row.duration_ms }),
    ...(row.response_status !== null && { responseStatus: row.response_status }),
  }
}
