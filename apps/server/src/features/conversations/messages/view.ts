import type { contract, Output } from '@botstead/contract'
import { type Tags, visibleTags } from '../../../domain/tags.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { MessageRow } from './store.js'

type WireMessage = Output<typeof contract.messages.get>['message']

/**
 * A message as bots and integrations see it.
 * @param alias of the integration that asks; undefined for the bot
 */
export function toMessage(row: MessageRow, alias: string | undefined): WireMessage {
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at ?? row.created_at,
    type: row.type,
    payload: decodeJson(row.payload),
    direction: row.direction,
    userId: row.user_id,
    conversationId: row.conversation_id,
    tags: row.tags === null ? {} : visibleTags(alias, decodeJson<Tags>(row.tags)),
    ...(row.origin !== null && { origin: row.origin }),
  }
}
