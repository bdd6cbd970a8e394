import type { contract, Output } from '@botstead/contract'
import type { MadeToken } from './new-token.js'
import type { TokenSummaryRow } from './store.js'

type WireToken = Output<typeof contract.tokens.listPersonal>['pats'][number]
type WireNewToken = Output<typeof contract.tokens.createBotKey>

/** Personal tokens and bot keys look the same. */
export function toToken(row: TokenSummaryRow): WireToken {
  return {
    id: row.id,
    createdAt: row.created_at,
    note: row.note,
    ...(row.last_used_at !== null && { lastUsedAt: row.last_used_at }),
  }
}

export function toNewToken({ token, value }: MadeToken): WireNewToken {
  return { id: token.id, createdAt: token.created_at, note: token.note, value }
}
