import type { Expression, SqlBool } from 'kysely'
import { dialectOf } from '../db/dialect.js'
import type { Tx } from '../db/schema.js'

/** Streams that one call touches; SQLite takes no more than 1,000 terms in one condition. */
const maxTrim = 500

/** Says by columns of the log whether a stream must not lose its beginning yet. */
export type KeepStream = (columns: {
  stream: Expression<string>
  botId: Expression<string>
}) => Expression<SqlBool>

/**
 * Removes the oldest events of those older than `before` (ISO 8601): about `limit` of them, 500 at
 * most. Returns how many are gone; the caller repeats it, each time in a transaction of its own,
 * until it returns 0. A stream always loses its beginning, never something from its middle.
 * @param keeps streams that stay as they are
 */
export async function trimEvents(
  tx: Tx,
  before: string,
  limit: number,
  keeps: readonly KeepStream[] = [],
): Promise<number> {
  let query = tx
    .selectFrom('events')
    .select(['stream', 'sequence'])
    .where('created_at', '<', before)
  for (const keep of keeps) {
    query = query.where(({ not, ref }) =>
      not(keep({ stream: ref('events.stream'), botId: ref('events.bot_id') })),
    )
  }
  const old = await query.orderBy('created_at').limit(Math.min(limit, maxTrim)).execute()
  if (old.length === 0) return 0
  // Writers with unequal clocks can date an event before its predecessor, so it is not the picked
  // rows that go but everything up to the last of them.
  const ends = new Map<string, number>()
  for (const { stream, sequence } of old) {
    ends.set(stream, Math.max(sequence, ends.get(stream) ?? 0))
  }
  const dialect = dialectOf(tx)
  await tx
    .insertInto('event_streams')
    .values(
      // In one order everywhere, so that two that trim at once wait for each other and do not clash.
      [...ends].sort().map(([stream, sequence]) => ({
        stream,
        last_sequence: 0,
        trimmed_sequence: sequence,
      })),
    )
    .onConflict((conflict) =>
      conflict.column('stream').doUpdateSet((eb) => ({
        trimmed_sequence: dialect.greater(
          eb.ref('event_streams.trimmed_sequence'),
          eb.ref('excluded.trimmed_sequence'),
        ),
      })),
    )
    .execute()
  const { numDeletedRows } = await tx
    .deleteFrom('events')
    .where((eb) =>
      eb.or(
        [...ends].map(([stream, sequence]) =>
          eb.and([eb('stream', '=', stream), eb('sequence', '<=', sequence)]),
        ),
      ),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Some events of one stream. */
interface EventRange {
  stream: string
  /** Numbers of the first and the last event that may be meant. */
  first: number
  last: number
  type: string
  subjectId: string
}

/** Removes the data of events, which stay in the log as numbers alone. */
export async function emptyEvents(tx: Tx, range: EventRange): Promise<void> {
  await tx
    .updateTable('events')
    .set({ data: null })
    .where('stream', '=', range.stream)
    .where('sequence', '>=', range.first)
    .where('sequence', '<=', range.last)
    .where('type', '=', range.type)
    .where('subject_id', '=', range.subjectId)
    .execute()
}
