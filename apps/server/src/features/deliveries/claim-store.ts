import type { Selectable } from 'kysely'
import { dialectOf } from '../../platform/db/dialect.js'
import { prepared } from '../../platform/db/prepared.js'
import type { Tx } from '../../schema.js'
import { type DeliveryRow, isPending } from './store.js'
import type { DeliveryReceiversTable } from './table.js'

export type ReceiverRow = Selectable<DeliveryReceiversTable>

/**
 * Takes those deliveries that are still due, until `leaseUntil` or their end. Those that another
 * process is just taking are passed over.
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
      }))
      .where('id', 'in', ({ selectFrom }) => selectFrom('due').select('id'))
      .returningAll(),
)

/**
 * Takes deliveries out of the way while their receiver is paused. Whoever had claimed one and was
 * silent for too long has lost it. The caller holds the pause, so that it cannot end meanwhile.
 */
export async function setAside(tx: Tx, ids: readonly string[], now: string): Promise<void> {
  if (ids.length === 0) return
  await tx
    .updateTable('deliveries')
    .set({ set_aside: 1, next_attempt_at: null, owner: null })
    .where('id', 'in', [...ids])
    .where('next_attempt_at', '<=', now)
    .where(isPending)
    .execute()
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
    .updateTable('deliveries')
    .set({ set_aside: 0, next_attempt_at: now })
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('deliveries')
        .select('id')
        .where('bot_id', '=', botId)
        .where('integration', '=', integration)
        .where('set_aside', '=', 1)
        .limit(limit),
    )
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

/** One claim of one delivery. */
export type Claim = Pick<DeliveryRow, 'id' | 'attempts' | 'owner'>

const finishClaim = prepared<{
  id: string
  attempts: number
  owner: string
  status: DeliveryRow['status']
  last_error: string | null
  next_attempt_at: string | null
  updated_at: string
}>()((db, p) =>
  db
    .updateTable('deliveries')
    .set({
      status: p('status'),
      owner: null,
      last_error: p('last_error'),
      next_attempt_at: p('next_attempt_at'),
      updated_at: p('updated_at'),
    })
    .where('id', '=', p('id'))
    .where('attempts', '=', p('attempts'))
    .where('owner', '=', p('owner'))
    .where(isPending),
)

/** What becomes of a delivery after an attempt. */
export type Outcome = Pick<DeliveryRow, 'status' | 'last_error' | 'next_attempt_at'>

/** Ends a claim; false if it was lost to another process, or the delivery is gone. */
export async function endClaim(
  tx: Tx,
  { id, attempts, owner }: Claim,
  outcome: Outcome,
  now: string,
): Promise<boolean> {
  const values = { id, attempts, owner: owner ?? '', ...outcome, updated_at: now }
  return (await finishClaim.affected(tx, values)) > 0
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

const giveBackClaim = prepared<{
  id: string
  attempts: number
  owner: string
  made: number
  last_error: string | null
  next_attempt_at: string
}>()((db, p) =>
  db
    .updateTable('deliveries')
    .set({
      owner: null,
      attempts: p('made'),
      last_error: p('last_error'),
      next_attempt_at: p('next_attempt_at'),
    })
    .where('id', '=', p('id'))
    .where('attempts', '=', p('attempts'))
    .where('owner', '=', p('owner'))
    .where(isPending),
)

/**
 * Ends a claim without an outcome.
 * @param called whether the receiver may have been called, so that the next attempt may be a repeat
 * @returns false if the claim was lost to another process, or the delivery is gone
 */
export async function giveBack(
  tx: Tx,
  { id, attempts, owner }: Claim,
  { called, lastError, at }: { called: boolean; lastError: string | null; at: string },
): Promise<boolean> {
  const values = {
    ...{ id, attempts, owner: owner ?? '', last_error: lastError, next_attempt_at: at },
    made: called ? attempts : attempts - 1,
  }
  return (await giveBackClaim.affected(tx, values)) > 0
}

/** Prolongs the leases of everything that a process is sending; answers the ids that are still its. */
export async function prolong(
  tx: Tx,
  owner: string,
  ids: readonly string[],
  leaseUntil: string,
): Promise<Set<string>> {
  const rows = await tx
    .updateTable('deliveries')
    .set({ next_attempt_at: leaseUntil })
    .where('id', 'in', [...ids])
    .where('owner', '=', owner)
    .where(isPending)
    .returning('id')
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** Frees what processes that are certainly gone have left half done. Answers how many. */
export async function freeAll(tx: Tx, now: string): Promise<number> {
  const result = await tx
    .updateTable('deliveries')
    .set({ next_attempt_at: now, owner: null })
    .where('next_attempt_at', '>', now)
    .where('owner', 'is not', null)
    .executeTakeFirst()
  return Number(result.numUpdatedRows)
}
