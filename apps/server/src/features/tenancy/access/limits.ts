import type { Body, contract } from '@botstead/contract'
import type { AccountActor } from '../../../domain/actor.js'
import { fieldError, noReference } from '../../../domain/refusals.js'
import { type BotScope, noLimits, type TokenLimits } from '../../../domain/rights.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import { decodeBoolean } from '../../../platform/db/columns.js'
import type { Db } from '../../../platform/db/schema.js'
import type { Memberships } from './memberships.js'
import { findEndOfPersonal, type TokenRow } from './store.js'

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

/** Limits of a new personal token. */
export interface PersonalLimits {
  readOnly: boolean
  workspaceId: string | undefined
  botId: string | undefined
  expiresAt: string | undefined
}

interface LimitsDeps {
  db: Db
  clock: Clock
  bots: { isIn(scope: BotScope, botId: string): Promise<boolean> }
  memberships: Memberships
}

/** @throws ApiError for limits that the owner of the token could not use */
export async function requireLimits(
  deps: LimitsDeps,
  { accountId, tokenId }: AccountActor,
  { readOnly = false, workspaceId, botId, expiresAt }: Body<typeof contract.tokens.createPersonal>,
): Promise<PersonalLimits> {
  if (expiresAt !== undefined && Date.parse(expiresAt) <= deps.clock.now()) {
    throw fieldError('body.expiresAt', 'must be in the future.')
  }
  if (botId !== undefined && workspaceId === undefined) {
    throw fieldError('body.workspaceId', 'must name the workspace of body.botId.')
  }
  if (workspaceId !== undefined) {
    const rights = await deps.memberships.rightsIn(accountId, workspaceId)
    const where = 'of which you are a member'
    if (rights === undefined) throw noReference('body.workspaceId', 'workspace', workspaceId, where)
    const isThere = botId === undefined || (await deps.bots.isIn({ workspaceId, rights }, botId))
    if (!isThere) throw noReference('body.botId', 'bot', botId, 'in that workspace')
  }
  const end = expiresAt === undefined ? undefined : isoTime(Date.parse(expiresAt))
  const latest = await findEndOfPersonal(deps.db, tokenId)
  if (latest !== undefined && (end ?? '~') > latest) {
    throw fieldError(
      'body.expiresAt',
      `must not be after ${latest}, when the token in Authorization expires.`,
    )
  }
  return { readOnly, workspaceId, botId, expiresAt: end }
}
