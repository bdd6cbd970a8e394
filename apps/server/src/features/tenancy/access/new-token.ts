import { type Clock, isoTime } from '../../../platform/clock.js'
import { hashToken, type Ids, newToken } from '../../../platform/ids.js'
import type { TokenRow } from './store.js'

/** A token that was just made: the only time that its value is known. */
export interface MadeToken {
  token: TokenRow
  value: string
}

/** Whom a token acts for. */
export type TokenOwner =
  | { kind: 'personal'; accountId: string }
  | { kind: 'bot'; workspaceId: string; botId: string }
  | { kind: 'integration'; workspaceId: string; integrationId: string }

/** Prefixes of values and ids. */
const prefixes = {
  personal: { value: 'bp_pat_', id: 'pat' },
  bot: { value: 'bp_bak_', id: 'bak' },
  integration: { value: 'bp_iak_', id: 'iak' },
} as const

interface Sources {
  ids: Ids
  clock: Clock
}

/** @param value given by the operator; a new one is made without it */
export function makeToken(
  owner: TokenOwner,
  note: string,
  { ids, clock }: Sources,
  value = newToken(prefixes[owner.kind].value),
): MadeToken {
  const token: TokenRow = {
    id: ids.next(prefixes[owner.kind].id),
    kind: owner.kind,
    hash: hashToken(value),
    account_id: owner.kind === 'personal' ? owner.accountId : null,
    workspace_id: owner.kind === 'personal' ? null : owner.workspaceId,
    bot_id: owner.kind === 'bot' ? owner.botId : null,
    integration_id: owner.kind === 'integration' ? owner.integrationId : null,
    note,
    created_at: isoTime(clock.now()),
    last_used_at: null,
  }
  return { token, value }
}
