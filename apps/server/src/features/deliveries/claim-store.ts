import { dialectOf } from '../../platform/db/dialect.js'
import { prepared } from '../../platform/db/prepared.js'
import type { Tx } from '../../platform/db/schema.js'
import { type DeliveryRow, isPending } from './store.js'

/**
 * Takes those deliveries that are still due, until `leaseUntil` or their end. Those that another
 * process is just taking are passed over. One that still has an owner was left by a process that is
 * gone: that attempt has no outcome, and is none of those after which the delivery is given up.
 */
export async function claim(
  tx: Tx,
  ids: readonly string[],
  owner: string,
  now: string,
  leaseUntil: string,
): Promise<DeliveryRow[]> {
  if (ids.length === 0) return []
  return await claimDue(tx, { ids: JSON.stringify(ids), owner, now, leaseUntil })
}

const claimDue = prepared<{ ids: string; owner: string; now: string; leaseUntil: string }>()(
  (db, p, dialect) =>
    db
      .with('due', (cte) =>
        dialect.lockFreeRows(
          cte
            .selectFrom('deliveries')
            .select('id')
            .where('id', 'in', ({ selectFrom }) =>
              selectFrom(dialect.jsonTexts(p('ids'))).select('given.value'),
            )
            .where('next_attempt_at', '<=', p('now'))
            .where(isPending),
        ),
      )
      .updateTable('deliveries')
      .set((eb) => ({
        owner: p('owner'),
        next_attempt_at: p('leaseUntil'),
        attempts: eb('attempts', '+', 1),
        spent: eb
          .case()
          .when('owner', 'is', null)
          .then(eb.ref('spent'))
          .else(eb('spent', '+', 1))
          .end(),
      }))
      .where('id', 'in', ({ selectFrom }) => selectFrom('due').select('id'))
      .returningAll(),
)

/**
 * Takes what waits first for a paused receiver, to see whether it is taken now: the oldest of what was
 * set aside, or else what pauses after a failure. The attempt does not count as one of those after
 * which it is given up.
 */
export async function claimFirst(
  tx: Tx,
  botId: string,
  integration: string,
  owner: string,
  leaseUntil: string,
): Promise<DeliveryRow | undefined> {
  const waiting = tx
    .selectFrom('deliveries')
    .select('id')
    .where('bot_id', '=', botId)
    .where('integration', '=', integration)
    .limit(1)
  const aside = waiting.where('set_aside', '=', 1).orderBy('created_at').orderBy('id')
  const pausing = waiting
    .where('next_attempt_at', 'is not', null)
    .where('owner', 'is', null)
    .where(isPending)
    .orderBy('next_attempt_at')
  for (const query of [aside, pausing]) {
    const claimed = await tx
      .with('first', () => dialectOf(tx).lockFreeRows(query))
      .updateTable('deliveries')
      .set((eb) => ({
        ...{ set_aside: 0, owner, next_attempt_at: leaseUntil },
        attempts: eb('attempts', '+', 1),
        spent: eb('spent', '+', 1),
      }))
      .where('id', 'in', ({ selectFrom }) => selectFrom('first').select('id'))
      .returningAll()
      .executeTakeFirst()
    if (claimed !== undefined) return claimed
  }
  return undefined
}

/** Prolongs the leases of everything that a process is sending; answers the ids that are still its. */
export async function prolong(
  tx: Tx,
  owner: string,
  ids: readonly string[],
  leaseUntil: string,
): Promise<Set<string>> {
  const rows = await tx
    .with('held', (cte) =>
      // In the order in which they are settled, so that the two do not wait for each other.
      dialectOf(tx).lockRows(
        cte
          .selectFrom('deliveries')
          .select('id')
          .where('id', 'in', [...ids])
          .where('owner', '=', owner)
          .where(isPending)
          .orderBy('id'),
      ),
    )
    .updateTable('deliveries')
    .set({ next_attempt_at: leaseUntil })
    .where('id', 'in', ({ selectFrom }) => selectFrom('held').select('id'))
    .returning('id')
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** Frees what processes that are certainly gone have left half done, as `claim` does. Answers how many. */
export async function freeAll(tx: Tx, now: string): Promise<number> {
  const result = await tx
    .updateTable('deliveries')
    .set((eb) => ({ next_attempt_at: now, owner: null, spent: eb('spent', '+', 1) }))
    .where('next_attempt_at', '>', now)
    .where('owner', 'is not', null)
    .executeTakeFirst()
  return Number(result.numUpdatedRows)
}
