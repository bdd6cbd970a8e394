import type { Selectable } from 'kysely'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { ResolvedErrorsTable } from './table.js'

type ResolvedRow = Selectable<ResolvedErrorsTable>

/** Remembers that a group is resolved, also if it was before. */
export async function putResolved(tx: Tx, row: ResolvedRow): Promise<void> {
  const { workspace_id: _, fingerprint: __, bot_id: ___, ...changes } = row
  await tx
    .insertInto('resolved_errors')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'fingerprint']).doUpdateSet(changes),
    )
    .execute()
}

/** The bot of a group of errors that was resolved; undefined if it was not. */
export async function findBotOfResolved(
  tx: Tx,
  workspaceId: string,
  fingerprint: string,
): Promise<string | undefined> {
  const row = await tx
    .selectFrom('resolved_errors')
    .select('bot_id')
    .where('workspace_id', '=', workspaceId)
    .where('fingerprint', '=', fingerprint)
    .executeTakeFirst()
  return row?.bot_id
}

/** Returns whether there was a resolution of the group. */
export async function deleteResolved(
  tx: Tx,
  workspaceId: string,
  fingerprint: string,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('resolved_errors')
    .where('workspace_id', '=', workspaceId)
    .where('fingerprint', '=', fingerprint)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** The times up to which groups of a workspace are resolved, by their fingerprints. */
export async function listResolved(db: Db, workspaceId: string): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('resolved_errors')
    .select(['fingerprint', 'last_at'])
    .where('workspace_id', '=', workspaceId)
    .execute()
  return new Map(rows.map((row) => [row.fingerprint, row.last_at]))
}

/** Deletes resolutions from before an ISO 8601 time, or those of a bot, at most `limit`; returns how many. */
export async function deleteSomeResolved(
  tx: Tx,
  which: { before: string } | { botId: string },
  limit: number,
): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('resolved_errors')
    .where(({ eb, refTuple, selectFrom }) => {
      const keys = selectFrom('resolved_errors')
        .select(['workspace_id', 'fingerprint'])
        .limit(limit)
      const some =
        'before' in which
          ? keys.where('resolved_at', '<', which.before)
          : keys.where('bot_id', '=', which.botId)
      return eb(
        refTuple('workspace_id', 'fingerprint'),
        'in',
        some.$asTuple('workspace_id', 'fingerprint'),
      )
    })
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Moves what was resolved of a bot with it to another workspace. */
export async function moveResolved(
  tx: Tx,
  botId: string,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await tx
    .deleteFrom('resolved_errors')
    .where('workspace_id', '=', to)
    .where('fingerprint', 'in', ({ selectFrom }) =>
      selectFrom('resolved_errors')
        .select('fingerprint')
        .where('workspace_id', '=', from)
        .where('bot_id', '=', botId),
    )
    .execute()
  await tx
    .updateTable('resolved_errors')
    .set({ workspace_id: to })
    .where('workspace_id', '=', from)
    .where('bot_id', '=', botId)
    .execute()
}

export async function deleteResolvedOfWorkspace(tx: Tx, workspaceId: string): Promise<void> {
  await tx.deleteFrom('resolved_errors').where('workspace_id', '=', workspaceId).execute()
}
