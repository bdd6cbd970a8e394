import type { contract, Output } from '@botstead/contract'
import { visibleTags } from '../../../domain/tags.js'
import type { EventRow } from './store.js'

export type WireEvent = Output<typeof contract.events.get>['event']

/**
 * An event as the bot or an integration sees it.
 * @param alias of the calling integration; undefined for the bot
 */
export function toEvent(
  row: EventRow,
  payload: Record<string, unknown>,
  alias?: string,
): WireEvent {
  const [type = row.type] = Object.keys(visibleTags(alias, { [row.type]: '' }))
  return {
    id: row.id,
    createdAt: row.created_at,
    type,
    payload,
    ...(row.conversation_id !== null && { conversationId: row.conversation_id }),
    ...(row.user_id !== null && { userId: row.user_id }),
    ...(row.message_id !== null && { messageId: row.message_id }),
    status: row.status,
    failureReason: row.failure_reason,
  }
}
