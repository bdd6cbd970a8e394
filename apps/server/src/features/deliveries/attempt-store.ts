import { prepared } from '../../platform/db/prepared.js'
import type { Tx } from '../../platform/db/schema.js'
import type { CallResult } from '../calls/requests/index.js'
import type { DeliveryRow } from './store.js'
import type { DeliveryAttemptsTable } from './table.js'

/** The columns of an attempt, as rows of JSON carry them. */
const kinds = {
  delivery_id: 'text',
  number: 'integer',
  bot_id: 'text',
  started_at: 'text',
  duration_ms: 'integer',
  status: 'integer',
  error: 'text',
  answer: 'text',
} as const
const columns = [
  'delivery_id',
  'number',
  'bot_id',
  'started_at',
  'duration_ms',
  'status',
  'error',
  'answer',
] as const

const insert = prepared<{ attempts: string }>()((db, p, dialect) =>
  db
    .insertInto('delivery_attempts')
    .columns(columns)
    .expression(({ selectFrom }) =>
      selectFrom(dialect.jsonRecords<DeliveryAttemptsTable>(p('attempts'), kinds))
        .select(columns)
        // Nothing but a condition tells the parser of SQLite that no conflict clause follows.
        .where('number', '>', 0),
    ),
)

/** What is kept of an attempt. */
export function attemptOf(row: DeliveryRow, result: CallResult): DeliveryAttemptsTable {
  const { verdict, startedAt, durationMs, status, answer } = result
  return {
    delivery_id: row.id,
    number: row.attempts,
    bot_id: row.bot_id,
    started_at: startedAt,
    duration_ms: durationMs,
    status,
    error: verdict.result === 'delivered' ? null : verdict.error,
    answer,
  }
}

/** Keeps what came of attempts. */
export async function keepAttempts(
  tx: Tx,
  attempts: readonly DeliveryAttemptsTable[],
): Promise<void> {
  if (attempts.length === 0) return
  await insert(tx, { attempts: JSON.stringify(attempts) })
}
