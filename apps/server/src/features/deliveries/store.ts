import type { Selectable } from 'kysely'
import { prepared } from '../../platform/db/prepared.js'
import type { Tx } from '../../schema.js'
import type { DeliveriesTable } from './table.js'

export type DeliveryRow = Selectable<DeliveriesTable>

/** What a delivery has from the start. */
type NewRow = Pick<
  DeliveryRow,
  'id' | 'bot_id' | 'integration' | 'kind' | 'subject_id' | 'order_key' | 'position' | 'created_at'
>

const insert = prepared<NewRow>()((db, parameter) =>
  db.insertInto('deliveries').values({
    id: parameter('id'),
    bot_id: parameter('bot_id'),
    integration: parameter('integration'),
    kind: parameter('kind'),
    subject_id: parameter('subject_id'),
    order_key: parameter('order_key'),
    position: parameter('position'),
    status: 'pending',
    attempts: 0,
    next_attempt_at: parameter('created_at'),
    last_error: null,
    created_at: parameter('created_at'),
    updated_at: parameter('created_at'),
  }),
)

/** Of the hot path of bots that listen. */
export function insertDelivery(tx: Tx, row: NewRow): Promise<unknown> {
  return insert(tx, row)
}

/** @returns how many were deleted, at most `limit` */
export async function deleteSomeDeliveries(tx: Tx, botId: string, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('deliveries')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('deliveries').select('id').where('bot_id', '=', botId).limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
