import type { contract, Output } from '@botstead/contract'
import { type Tags, visibleTags } from '../../../domain/tags.js'
import { decodeJson } from '../../../platform/db/columns.js'
import type { ConversationRow } from './store.js'

type WireConversation = Output<typeof contract.conversations.get>['conversation']

/**
 * A conversation as bots and integrations see it.
 * @param alias of the calling integration; undefined for the bot
 */
export function toConversation(row: ConversationRow, alias: string | undefined): WireConversation {
  const properties = decodeJson<Tags>(row.properties)
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    channel: row.channel,
    integration: row.integration,
    tags: visibleTags(alias, decodeJson<Tags>(row.tags)),
    messageCount: row.message_count,
    ...(row.current_workflow_id !== null && { currentWorkflowId: row.current_workflow_id }),
    ...(Object.keys(properties).length > 0 && { properties }),
  }
}

/** The id under which participants know a conversation. */
export function publicIdOf(conversation: Pick<ConversationRow, 'id' | 'foreign_id'>): string {
  return conversation.foreign_id ?? conversation.id
}
