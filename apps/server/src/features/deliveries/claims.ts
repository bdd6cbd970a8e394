import type { Selectable } from 'kysely'
import { dialectOf } from '../../platform/db/dialect.js'
import { prepared } from '../../platform/db/prepared.js'
import type { Db, Tx } from '../../schema.js'
import type { DeliveryRow } from './store.js'
import type { DeliveryReceiversTable } from './table.js'

/** What is looked at before anything is claimed. */
export type DueDelivery = Pick<DeliveryRow, 'id' | 'bot_id' | 'integration'>

/** Receivers of which so many deliveries are on the way that no more are sent now. */
export type BusyReceivers = readonly Pick<DeliveryRow, 'bot_id' | 'integration'>[]

export type ReceiverRow = Selectable<DeliveryReceiversTable>

/** What may be sent now, longest due first. */
export async function listDue(
  db: Db,
  now: string,
  busy: BusyReceivers,
  limit: number,
): Promise<DueDelivery[]> {
  let query = db
    .selectFrom('deliveries')
    .select(['id', 'bot_id', 'integration'])
    .where('next_attempt_at', '<=', now)
    .orderBy('next_attempt_at')
    .orderBy('id')
    .limit(limit)
  for (const { bot_id, integration } of busy) {
    query = query.where((eb) =>
      eb.or([eb('bot_id', '!=', bot_id), eb('integration', '!=', integration)]),
    )
  }
  return await query.execute()
}

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
  const due = tx
    .selectFrom('deliveries')
    .select('id')
    .where('id', 'in', [...ids])
    .where('next_attempt_at', '<=', now)
    .where('status', '=', 'pending')
  return await tx
    .with('due', () => dialectOf(tx).lockFreeRows(due))
    .updateTable('deliveries')
    .set((eb) => ({ owner, next_attempt_at: leaseUntil, attempts: eb('attempts', '+', 1) }))
    .where('id', 'in', ({ selectFrom }) => selectFrom('due').select('id'))
    .returningAll()
    .execute()
}

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
    .where('status', '=', 'pending')
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
    .where('status', '=', 'pending'),
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
    .where('status', '=', 'pending'),
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
    .where('status', '=', 'pending')
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

/** When after `now` the next delivery is due or loses its sender; undefined if none is. */
export async function findNextDue(db: Db, now: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('deliveries')
    .select('next_attempt_at')
    .where('next_attempt_at', '>', now)
    .orderBy('next_attempt_at')
    .limit(1)
    .executeTakeFirst()
  return row?.next_attempt_at ?? undefined
}

const insertAttempt = prepared<{
  delivery_id: string
  number: number
  bot_id: string
  started_at: string
  duration_ms: number
  status: number | null
  error: string | null
  answer: string | null
}>()((db, p) =>
  db.insertInto('delivery_attempts').values({
    delivery_id: p('delivery_id'),
    number: p('number'),
    bot_id: p('bot_id'),
    started_at: p('started_at'),
    duration_ms: p('duration_ms'),
    status: p('status'),
    error: p('error'),
    answer: p('answer'),
  }),
)

/** Keeps what came of an attempt. */
export async function keepAttempt(
  tx: Tx,
  attempt: Parameters<typeof insertAttempt>[1],
): Promise<void> {
  await insertAttempt(tx, attempt)
}
