import { noLimits, type TokenLimits } from '../../../domain/rights.js'
import { decodeBoolean } from '../../../platform/db/columns.js'
import type { TokenRow } from './store.js'

/** The limits of a personal token, or of a session, which has none. */
export function limitsOf(row: TokenRow): TokenLimits {
  const readOnly = decodeBoolean(row.read_only)
  if (!readOnly && row.workspace_id === null) return noLimits
  return {
    readOnly,
    workspaceId: row.workspace_id ?? undefined,
    botId: row.bot_id ?? undefined,
  }
}
