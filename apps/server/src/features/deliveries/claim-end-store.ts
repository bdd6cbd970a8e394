import { prepared } from '../../platform/db/prepared.js'
import type { Tx } from '../../platform/db/schema.js'
import { type DeliveryRow, isPending } from './store.js'

/** One claim of one delivery. */
export type Claim = Pick<DeliveryRow, 'id' | 'attempts' | 'owner' | 'updated_at'>

/** What becomes of a delivery after an attempt. */
export type Outcome = Pick<DeliveryRow, 'status' | 'last_error' | 'next_attempt_at'>

const finish = prepared<
  Pick<DeliveryRow, 'id' | 'attempts' | 'updated_at'> &
    Outcome & { owner: string; attempts_made: number; more_spent: number }
>()((db, p) =>
  db
    .updateTable('deliveries')
    .set((eb) => ({
      ...{ status: p('status'), owner: null, attempts: p('attempts_made') },
      ...{ last_error: p('last_error'), next_attempt_at: p('next_attempt_at') },
      updated_at: p('updated_at'),
      spent: eb('spent', '+', p('more_spent')),
    }))
    .where('id', '=', p('id'))
    .where('attempts', '=', p('attempts'))
    .where('owner', '=', p('owner'))
    .where(isPending),
)

/**
 * Ends a claim. What is still pending keeps the time of its last change: it says since when it waits.
 * @param of `attempt`: it has an outcome. `interruption`: the receiver may have been called, so that the
 * next attempt may be a repeat, but it is none of those after which the delivery is given up. `nothing`:
 * the receiver was not called
 * @returns false if the claim was lost to another process, or the delivery is gone
 */
export async function endClaim(
  tx: Tx,
  { id, attempts, owner, updated_at }: Claim,
  outcome: Outcome,
  now: string,
  of: 'attempt' | 'interruption' | 'nothing' = 'attempt',
): Promise<boolean> {
  const ended = await finish.affected(tx, {
    ...{ id, attempts, owner: owner ?? '', ...outcome },
    attempts_made: of === 'nothing' ? attempts - 1 : attempts,
    more_spent: of === 'interruption' ? 1 : 0,
    updated_at: outcome.status === 'pending' ? updated_at : now,
  })
  return ended > 0
}

/** One claim of one delivery, as rows of JSON carry it. */
const claimKinds = { id: 'text', attempts: 'integer' } as const

const finishDelivered = prepared<{ claims: string; owner: string; now: string }>()(
  (db, p, dialect) =>
    db
      .with('held', (cte) =>
        dialect.lockRows(
          cte
            .selectFrom(
              dialect.jsonRecords<Pick<DeliveryRow, 'id' | 'attempts'>>(p('claims'), claimKinds),
            )
            .crossJoin('deliveries')
            .whereRef('deliveries.id', '=', 'given.id')
            .whereRef('deliveries.attempts', '=', 'given.attempts')
            .select('deliveries.id')
            .where('owner', '=', p('owner'))
            .where(isPending)
            .orderBy('deliveries.id'),
        ),
      )
      .updateTable('deliveries')
      .set({
        ...{ status: 'delivered', owner: null, last_error: null, next_attempt_at: null },
        updated_at: p('now'),
      })
      .where('id', 'in', ({ selectFrom }) => selectFrom('held').select('id'))
      .returning('id'),
)

/** Ends claims of one process whose deliveries were taken; answers the ids of those that were its. */
export async function endDelivered(
  tx: Tx,
  rows: readonly Claim[],
  now: string,
): Promise<Set<string>> {
  const claims = JSON.stringify(rows.map(({ id, attempts }) => ({ id, attempts })))
  const ended = await finishDelivered(tx, { claims, owner: rows[0]?.owner ?? '', now })
  return new Set(ended.map(({ id }) => id))
}
