import type { contract, Output } from '@botstead/contract'
import { decodeJson } from '../../../platform/db/columns.js'
import type { StateRow } from './store.js'

type WireState = Output<typeof contract.states.get>['state']

export function toState(row: StateRow): WireState {
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    botId: row.bot_id,
    ...(row.type === 'conversation' && { conversationId: row.owner_id }),
    ...(row.type === 'user' && { userId: row.owner_id }),
    name: row.name,
    type: row.type,
    payload: decodeJson(row.payload),
    ...(row.expiry !== null && { expiry: row.expiry }),
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
  }
}
