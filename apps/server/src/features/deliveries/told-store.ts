import { isoTime } from '../../platform/clock.js'
import type { Db, Schema, Tx } from '../../platform/db/schema.js'

/** Milliseconds by which a delivery may be written later than what it tells of, in one transaction. */
const slackMs = 60_000

/**
 * Ids of what deliveries of some kinds tell of, or may be told again by hand, among what is from before
 * an ISO 8601 time: for those who forget what is old. By age, since so old there are few deliveries;
 * by subject they have no index. A table to be joined to, so that it is gone through once
 * on either engine: after a long outage there are many, and for `not in` PostgreSQL compares each with each.
 */
export function stillTold(
  executor: Db | Tx,
  kinds: readonly Schema['deliveries']['kind'][],
  before: string,
) {
  return executor
    .selectFrom('deliveries')
    .select('subject_id')
    .where('created_at', '<', isoTime(Date.parse(before) + slackMs))
    .where('kind', 'in', [...kinds])
    .as('told')
}
