import type { DeliveryRef } from '../../../domain/deliveries.js'
import type { EventBus } from '../../../platform/bus/event-bus.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { afterCommit } from '../../../platform/db/transaction.js'
import { Frame } from '../../../platform/streams/frame.js'
import { listReports } from '../../conversations/events/index.js'
import { type MessagesService, textOf } from '../../conversations/messages/index.js'
import type { Beside } from '../streams/index.js'
import type { ConversationState } from './conversation-state.js'
import type { WebchatMessage } from './shapes.js'

export interface OutcomesDeps {
  db: Db
  bus: Pick<EventBus, 'publish'>
  pager: Pager
  messages: Pick<MessagesService, 'listOf'>
}

/** Topic of the hints that deliveries about a conversation have ended; the key is its native id. */
const topic = 'chat-outcomes'
/** Messages of which the outcome is told, among the newest ones. */
const maxMessages = 10
/** Maximum characters of a message that is sent whole. Of longer ones a preview is enough: listeners have the message. */
const maxWholeLength = 2000
const maxPreviewLength = 200

/**
 * Tells web chats the outcome of messages of users: `processed` when the bot has accepted one, `failed` when its delivery
 * was given up. Outcomes are not in the log, where each would take a sequence number; a listener that joins gets the present ones.
 */
export function createOutcomes(
  { db, bus, pager, messages }: OutcomesDeps,
  { describe }: Pick<ConversationState, 'describe'>,
) {
  const beside: Beside = {
    topic,
    async read({ botId, id, publicId }) {
      const page = { operation: 'webchatOutcomes', scope: id, pageSize: maxMessages }
      const newestFirst = { sort: 'created_at', direction: 'desc' } as const
      const { rows } = await messages.listOf(botId, id, pager.page({ ...page, ...newestFirst }))
      const reports = await listReports(
        db,
        botId,
        rows.filter(({ direction }) => direction === 'incoming').map((row) => row.id),
      )
      const statuses = new Map(reports.map(({ message_id, status }) => [message_id, status]))
      const ended = rows.filter((row) => hasEnded(statuses.get(row.id)))
      const described = await describe(botId, ended, publicId)
      return new Map(
        described.map((message) => {
          const newStatus = statuses.get(message.id)
          const data = { message: previewOf(message), oldStatus: 'processing', newStatus }
          return [message.id, new Frame({ type: 'message_status_changed', data }, undefined)]
        }),
      )
    },
  }

  return {
    beside,

    /** Tells those who listen to web chats, once the transaction is committed. */
    announce(tx: Tx, deliveries: readonly DeliveryRef[]): void {
      const keys = new Set(
        deliveries.flatMap(({ kind, orderingKey }) =>
          kind === 'event_received' && orderingKey !== undefined ? orderingKey : [],
        ),
      )
      if (keys.size === 0) return
      afterCommit(tx, () => {
        for (const key of keys) bus.publish({ topic, key })
      })
    },
  }
}

function hasEnded(status: string | undefined): boolean {
  return status === 'processed' || status === 'failed'
}

function previewOf(message: WebchatMessage): WebchatMessage {
  const { payload } = message
  if (JSON.stringify(payload).length <= maxWholeLength) return message
  return { ...message, payload: { type: 'text', text: textOf(payload, maxPreviewLength) || '…' } }
}
