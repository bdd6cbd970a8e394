import type { Selectable } from 'kysely'
import type { Tx } from '../../../platform/db/schema.js'
import type { WebchatOpeningsTable } from './table.js'

export type OpeningRow = Selectable<WebchatOpeningsTable>

export async function insertOpening(tx: Tx, row: OpeningRow): Promise<void> {
  await tx.insertInto('webchat_openings').values(row).execute()
}

/** Some openings of all bots before an ISO 8601 time, the earliest first. */
export async function listOpenings(tx: Tx, before: string, limit: number): Promise<OpeningRow[]> {
  return await tx
    .selectFrom('webchat_openings')
    .selectAll()
    .where('opened_at', '<', before)
    .orderBy('opened_at')
    .limit(limit)
    .execute()
}

export async function deleteOpenings(tx: Tx, conversationIds: readonly string[]): Promise<void> {
  if (conversationIds.length === 0) return
  await tx.deleteFrom('webchat_openings').where('conversation_id', 'in', conversationIds).execute()
}

/** @returns how many were deleted, at most `limit` */
export async function deleteSomeOpenings(tx: Tx, botId: string, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('webchat_openings')
    .where('conversation_id', 'in', ({ selectFrom }) =>
      selectFrom('webchat_openings')
        .select('conversation_id')
        .where('bot_id', '=', botId)
        .limit(limit),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
