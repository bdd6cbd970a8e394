import { type Expression, type SqlBool, sql } from 'kysely'
import type { Receiver } from '../../domain/deliveries.js'
import { dialectOf } from '../../platform/db/dialect.js'
import { prepared } from '../../platform/db/prepared.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import { type DeliveryRow, isParked, isPending, type ReceiverColumns } from './store.js'

/**
 * The life of a claim: a ready delivery is found, claimed with a lease, prolonged, and released.
 */

/** A delivery that may be claimed. */
export interface ReadyDelivery extends ReceiverColumns, Pick<DeliveryRow, 'id'> {
  /** Whether its receiver is paused, or has failed lately; null if it works. */
  receiver_state: 'paused' | 'failing' | null
}

// A subquery of each returned row: with a join, PostgreSQL may read all that is ready.
const receiverState = sql<ReadyDelivery['receiver_state']>`(
  select case when paused is not null then 'paused' when failures > 0 then 'failing' end
  from delivery_receivers as receiver
  where receiver.bot_id = deliveries.bot_id
    and receiver.integration = deliveries.integration)`

/** Returns deliveries that may be sent now, longest due first. */
export const listReady = prepared<{ now: string; limit: number }>()((db, p) =>
  db
    .selectFrom('deliveries')
    .select(['id', 'bot_id', 'integration', receiverState.as('receiver_state')])
    .where('next_attempt_at', '<=', p('now'))
    .where(isPending)
    .orderBy('next_attempt_at')
    .orderBy('id')
    .limit(p('limit')),
)

/** Returns deliveries that may be sent to one receiver now, longest due first. */
export const listReadyOf = prepared<Receiver & { now: string; limit: number }>()((db, p) =>
  db
    .selectFrom('deliveries')
    .select(['id', 'bot_id', 'integration', receiverState.as('receiver_state')])
    .where('bot_id', '=', p('botId'))
    .where('integration', '=', p('integration'))
    .where('next_attempt_at', '<=', p('now'))
    .where(isPending)
    .orderBy('next_attempt_at')
    .orderBy('id')
    .limit(p('limit')),
)

/**
 * Receivers with ready deliveries. Each is found by one index step, however many deliveries the
 * previous one has.
 */
export async function listReadyReceivers(db: Db, now: string): Promise<Receiver[]> {
  const next = (column: 'bot_id' | 'integration', behind: Expression<SqlBool>) => sql`(
    select next.${sql.ref(column)} from deliveries as next
    where next.next_attempt_at is not null and ${behind}
    order by next.bot_id, next.integration limit 1)`
  const behind = sql<SqlBool>`
    (next.bot_id, next.integration) > (receiver.bot_id, receiver.integration)`
  const first = sql<SqlBool>`true`
  const { rows } = await sql<Receiver>`
    with recursive receiver(bot_id, integration) as (
      select ${next('bot_id', first)}, ${next('integration', first)}
      union all
      select ${next('bot_id', behind)}, ${next('integration', behind)} from receiver
      where receiver.bot_id is not null)
    select bot_id as "botId", integration from receiver
    where exists (
      select 1 from deliveries as d
      where d.bot_id = receiver.bot_id and d.integration = receiver.integration
        and d.next_attempt_at <= ${now} and d.status = 'pending')`.execute(db)
  return rows
}

const nextDue = prepared<{ now: string }>()((db, p) =>
  db
    .selectFrom('deliveries')
    .select('next_attempt_at')
    .where('next_attempt_at', '>', p('now'))
    .where(isPending)
    .orderBy('next_attempt_at')
    .limit(1),
)

/** Returns the next time after `now` at which a delivery is due or a lease expires; undefined if none. */
export async function findNextDue(db: Db, now: string): Promise<string | undefined> {
  return (await nextDue.first(db, { now }))?.next_attempt_at ?? undefined
}

/**
 * Claims the deliveries that are still due, until `leaseUntil` or their end. Those that another
 * process is claiming are skipped. A delivery that still has an owner was left by a dead process:
 * that attempt has no outcome, and does not count towards giving the delivery up. `ids` is a JSON
 * array.
 */
export const claimDue = prepared<{ ids: string; owner: string; now: string; leaseUntil: string }>()(
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
 * Claims the first delivery to a paused receiver, to probe whether it is accepted now: the oldest
 * parked one, or else one that waits after a failure. The attempt does not count towards giving it
 * up.
 */
export async function claimFirst(
  tx: Tx,
  { botId, integration }: Receiver,
  owner: string,
  leaseUntil: string,
): Promise<DeliveryRow | undefined> {
  const waiting = tx
    .selectFrom('deliveries')
    .select('id')
    .where('bot_id', '=', botId)
    .where('integration', '=', integration)
    .limit(1)
  const parked = waiting.where(isParked).orderBy('created_at').orderBy('id')
  const pausing = waiting
    .where('next_attempt_at', 'is not', null)
    .where('owner', 'is', null)
    .where(isPending)
    .orderBy('next_attempt_at')
  for (const query of [parked, pausing]) {
    const claimed = await tx
      .with('first', () => dialectOf(tx).lockFreeRows(query))
      .updateTable('deliveries')
      .set((eb) => ({
        set_aside: 0,
        owner,
        next_attempt_at: leaseUntil,
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

/** Whether a receiver has deliveries that are not ended, in flight or not. */
export async function hasPending(db: Db, { botId, integration }: Receiver): Promise<boolean> {
  const pending = db
    .selectFrom('deliveries')
    .select('id')
    .where('bot_id', '=', botId)
    .where('integration', '=', integration)
    .where(isPending)
    .limit(1)
  return (await pending.executeTakeFirst()) !== undefined
}

/**
 * Prolongs the leases of the deliveries that a process is sending; returns the ids that it still
 * owns.
 */
export async function prolong(
  tx: Tx,
  owner: string,
  ids: readonly string[],
  leaseUntil: string,
): Promise<Set<string>> {
  const rows = await tx
    .with('held', (cte) =>
      // In the order in which they are settled, so that the two do not deadlock.
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

/**
 * Releases the claims of processes that are certainly dead; as in `claimDue`, their attempts do not
 * count towards giving a delivery up. Returns how many.
 */
export async function freeAll(tx: Tx, now: string): Promise<number> {
  const result = await tx
    .updateTable('deliveries')
    .set((eb) => ({ next_attempt_at: now, owner: null, spent: eb('spent', '+', 1) }))
    .where('next_attempt_at', '>', now)
    .where('owner', 'is not', null)
    .executeTakeFirst()
  return Number(result.numUpdatedRows)
}

/** One claim of one delivery. */
export type Claim = Pick<DeliveryRow, 'id' | 'attempts' | 'owner' | 'code_ends' | 'updated_at'>

/** The columns of a delivery when its claim ends. */
export type Outcome = Pick<DeliveryRow, 'status' | 'last_error' | 'next_attempt_at'> & {
  /** Undefined: as before. */
  code_ends?: number | undefined
}

const finish = prepared<
  Pick<DeliveryRow, 'id' | 'attempts' | 'updated_at' | 'code_ends'> &
    Omit<Outcome, 'code_ends'> & { owner: string; attempts_made: number; more_prior: number }
>()((db, p) =>
  db
    .updateTable('deliveries')
    .set((eb) => ({
      status: p('status'),
      owner: null,
      attempts: p('attempts_made'),
      last_error: p('last_error'),
      next_attempt_at: p('next_attempt_at'),
      code_ends: p('code_ends'),
      updated_at: p('updated_at'),
      spent: eb('spent', '+', p('more_prior')),
    }))
    .where('id', '=', p('id'))
    .where('attempts', '=', p('attempts'))
    .where('owner', '=', p('owner'))
    .where(isPending),
)

/**
 * Ends a claim. A delivery that is still pending keeps the time of its last change, since which it
 * has waited.
 * @param of `attempt`: it has an outcome. `interruption`: the receiver may have been called, so
 * that the next attempt may be a repeat, but it does not count towards giving the delivery up.
 * `nothing`: the receiver was not called
 * @returns false if the claim was lost to another process, or the delivery is gone
 */
export async function endClaim(
  tx: Tx,
  { id, attempts, owner, code_ends, updated_at }: Claim,
  outcome: Outcome,
  now: string,
  of: 'attempt' | 'interruption' | 'nothing' = 'attempt',
): Promise<boolean> {
  const ended = await finish.affected(tx, {
    ...outcome,
    id,
    attempts,
    code_ends: outcome.code_ends ?? code_ends,
    owner: owner ?? '',
    attempts_made: of === 'nothing' ? attempts - 1 : attempts,
    more_prior: of === 'interruption' ? 1 : 0,
    updated_at: outcome.status === 'pending' ? updated_at : now,
  })
  return ended > 0
}

/** Column types of the key of a claim, for rows of JSON. */
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
        status: 'delivered',
        owner: null,
        last_error: null,
        next_attempt_at: null,
        updated_at: p('now'),
      })
      .where('id', 'in', ({ selectFrom }) => selectFrom('held').select('id'))
      .returning('id'),
)

/**
 * Ends claims of one process whose attempts have an outcome; one statement for all delivered ones.
 * @returns the ids of those that it owned
 */
export async function endClaims(
  tx: Tx,
  endings: readonly { row: Claim; outcome: Outcome }[],
  now: string,
): Promise<Set<string>> {
  const ended = new Set<string>()
  const delivered = endings.flatMap(({ row, outcome }) =>
    outcome.status === 'delivered' ? row : [],
  )
  const [first] = delivered
  if (first !== undefined) {
    const claims = JSON.stringify(delivered.map(({ id, attempts }) => ({ id, attempts })))
    const owner = first.owner ?? ''
    for (const { id } of await finishDelivered(tx, { claims, owner, now })) ended.add(id)
  }
  for (const { row, outcome } of endings) {
    if (outcome.status !== 'delivered' && (await endClaim(tx, row, outcome, now))) ended.add(row.id)
  }
  return ended
}
