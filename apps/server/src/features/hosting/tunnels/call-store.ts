import type { Db, Tx } from '../../../platform/db/schema.js'
import type { TunnelCallsTable } from './table.js'

export type CallRow = TunnelCallsTable

export async function insertCall(tx: Tx, row: CallRow): Promise<void> {
  await tx.insertInto('tunnel_calls').values(row).execute()
}

export async function findCall(db: Db, id: string): Promise<CallRow | undefined> {
  return await db.selectFrom('tunnel_calls').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Counts the open calls of a tunnel. */
export async function countCalls(tx: Tx, tunnelId: string, now: string): Promise<number> {
  const { count } = await tx
    .selectFrom('tunnel_calls')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('tunnel_id', '=', tunnelId)
    .where('state', '!=', 'ended')
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Calls of a tunnel that wait for a connection, oldest first. */
export async function listWaiting(
  db: Db,
  tunnelId: string,
  now: string,
  limit: number,
): Promise<CallRow[]> {
  return await db
    .selectFrom('tunnel_calls')
    .selectAll()
    .where('tunnel_id', '=', tunnelId)
    .where('state', '=', 'waiting')
    .where('expires_at', '>', now)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/**
 * Changes a call that is still in a state.
 * @returns whether it was
 */
export async function patchCall(
  tx: Tx,
  { id, state, connection }: Pick<CallRow, 'id' | 'state' | 'connection'>,
  patch: Partial<Pick<CallRow, 'state' | 'connection' | 'result'>>,
): Promise<boolean> {
  const result = await tx
    .updateTable('tunnel_calls')
    .set(patch)
    .where('id', '=', id)
    .where('state', '=', state)
    .where('connection', connection === null ? 'is' : '=', connection)
    .executeTakeFirst()
  return Number(result.numUpdatedRows) > 0
}

export async function deleteCall(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('tunnel_calls').where('id', '=', id).execute()
}

/** @returns how many calls were deleted that had to end before an ISO 8601 time */
export async function deleteExpiredCalls(tx: Tx, before: string, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('tunnel_calls')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('tunnel_calls').select('id').where('expires_at', '<', before).limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
