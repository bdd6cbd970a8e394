import { type Clock, isoTime } from '../../platform/clock.js'
import { hashToken, type Ids, newToken } from '../../platform/ids.js'
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

interface Sources {
  ids: Ids
  clock: Clock
}

/** @param value given by the operator; a new one is made without it */
export function makeToken(
  owner: TokenOwner,
  note: string,
  { ids, clock }: Sources,
  value = newToken(owner.kind === 'personal' ? 'bp_pat_' : 'bp_bak_'),
): MadeToken {
  const personal = owner.kind === 'personal'
  const token: TokenRow = {
    id: ids.next(personal ? 'pat' : 'bak'),
    kind: owner.kind,
    hash: hashToken(value),
    account_id: personal ? owner.accountId : null,
    workspace_id: personal ? null : owner.workspaceId,
    bot_id: personal ? null : owner.botId,
    note,
    created_at: isoTime(clock.now()),
    last_used_at: null,
  }
  return { token, value }
}
