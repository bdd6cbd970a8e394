import { dialectOf } from '../../platform/db/dialect.js'
import type { Tx } from '../../platform/db/schema.js'
import { isPending } from './store.js'

/**
 * Takes deliveries out of the way while their receiver is paused. Whoever had claimed one and was
 * silent for too long has lost it. The caller holds the pause, so that it cannot end meanwhile; what
 * somebody is just settling is passed over, since who settles may wait for that pause.
 * @returns how many
 */
export async function setAside(tx: Tx, ids: readonly string[], now: string): Promise<number> {
  if (ids.length === 0) return 0
  const result = await tx
    .with('due', (cte) =>
      dialectOf(tx).lockFreeRows(
        cte
          .selectFrom('deliveries')
          .select('id')
          .where('id', 'in', [...ids])
          .where('next_attempt_at', '<=', now)
          .where(isPending),
      ),
    )
    .updateTable('deliveries')
    .set({ set_aside: 1, next_attempt_at: null, owner: null })
    .where('id', 'in', ({ selectFrom }) => selectFrom('due').select('id'))
    .executeTakeFirst()
  return Number(result.numUpdatedRows)
}

/** Puts back deliveries that were set aside, at most `limit`; answers how many. */
export async function putBack(
  tx: Tx,
  botId: string,
  integration: string,
  now: string,
  limit: number,
): Promise<number> {
  const result = await tx
    .with('aside', (cte) =>
      // Looked at once more when locked: a ping that is on the way may have claimed one.
      dialectOf(tx).lockRows(
        cte
          .selectFrom('deliveries')
          .select('id')
          .where('bot_id', '=', botId)
          .where('integration', '=', integration)
          .where('set_aside', '=', 1)
          .where(isPending)
          .limit(limit),
      ),
    )
    .updateTable('deliveries')
    .set({ set_aside: 0, next_attempt_at: now })
    .where('id', 'in', ({ selectFrom }) => selectFrom('aside').select('id'))
    .executeTakeFirst()
  return Number(result.numUpdatedRows)
}

/**
 * Makes due what pauses after a failed attempt, at most `limit`; answers how many. Those that another
 * process is just taking are passed over.
 */
export async function hastenRetries(
  tx: Tx,
  botId: string,
  integration: string,
  now: string,
  limit: number,
): Promise<number> {
  const result = await tx
    .with('pausing', (cte) =>
      dialectOf(tx).lockFreeRows(
        cte
          .selectFrom('deliveries')
          .select('id')
          .where('bot_id', '=', botId)
          .where('integration', '=', integration)
          .where('next_attempt_at', '>', now)
          .where('owner', 'is', null)
          .where(isPending)
          .limit(limit),
      ),
    )
    .updateTable('deliveries')
    .set({ next_attempt_at: now })
    .where('id', 'in', ({ selectFrom }) => selectFrom('pausing').select('id'))
    .executeTakeFirst()
  return Number(result.numUpdatedRows)
}
