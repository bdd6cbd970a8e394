import type { Insertable, Selectable } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import {
  type AuditHeadsTable,
  type AuditRecordsTable,
  type AuditRow,
  type Link,
  retentionOperation,
} from './table.js'

/** Records that are listed or exported. Times are ISO 8601, both included. */
export interface AuditFilter {
  accountId?: string | undefined
  operation?: string | undefined
  since?: string | undefined
  until?: string | undefined
}

/** The heads of some workspaces, which nobody else moves until the transaction ends, in order; made where there is none. */
export async function lockHeads(
  tx: Tx,
  workspaceIds: readonly string[],
): Promise<Selectable<AuditHeadsTable>[]> {
  const empty = { sequence: 0, hash: '', recorded_at: '' }
  const ids = [...workspaceIds].sort()
  await tx
    .insertInto('audit_heads')
    .values(ids.map((workspace_id) => ({ workspace_id, ...empty })))
    .onConflict((conflict) => conflict.column('workspace_id').doNothing())
    .execute()
  const query = tx
    .selectFrom('audit_heads')
    .selectAll()
    .where('workspace_id', 'in', ids)
    .orderBy('workspace_id')
  return await dialectOf(tx).lockRows(query).execute()
}

export async function insertRecords(
  tx: Tx,
  rows: readonly Insertable<AuditRecordsTable>[],
): Promise<void> {
  await tx
    .insertInto('audit_records')
    .values([...rows])
    .execute()
}

export async function moveHeads(
  tx: Tx,
  heads: readonly Selectable<AuditHeadsTable>[],
): Promise<void> {
  await tx
    .insertInto('audit_heads')
    .values([...heads])
    .onConflict((conflict) =>
      conflict.column('workspace_id').doUpdateSet(({ ref }) => ({
        sequence: ref('excluded.sequence'),
        hash: ref('excluded.hash'),
        recorded_at: ref('excluded.recorded_at'),
      })),
    )
    .execute()
}

export async function pageRecords(
  db: Db,
  workspaceId: string,
  filter: AuditFilter,
  page: PageRequest<'sequence'>,
): Promise<Page<AuditRow>> {
  return await paginate(selected(db, workspaceId, filter), page)
}

/** Some records behind a sequence, oldest first. */
export async function listAfter(
  executor: Db | Tx,
  workspaceId: string,
  filter: AuditFilter,
  sequence: number,
  max: number,
): Promise<AuditRow[]> {
  return await selected(executor, workspaceId, filter)
    .where('sequence', '>', sequence)
    .orderBy('sequence')
    .limit(max)
    .execute()
}

function selected(executor: Db | Tx, workspaceId: string, filter: AuditFilter) {
  const { accountId, operation, since, until } = filter
  return executor
    .selectFrom('audit_records')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .$if(operation !== undefined, (query) => query.where('operation', '=', operation ?? ''))
    .$if(since !== undefined, (query) => query.where('recorded_at', '>=', since ?? ''))
    .$if(until !== undefined, (query) => query.where('recorded_at', '<=', until ?? ''))
}

export async function findHead(db: Db, workspaceId: string): Promise<Link | undefined> {
  return await db
    .selectFrom('audit_heads')
    .select(['sequence', 'hash'])
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst()
}

/** Ids of workspaces with records or a head, in order, behind one. */
export async function listWorkspacesAfter(db: Db, after: string, max: number): Promise<string[]> {
  const rows = await db
    .selectFrom('audit_records')
    .select('workspace_id')
    .where('workspace_id', '>', after)
    .union(db.selectFrom('audit_heads').select('workspace_id').where('workspace_id', '>', after))
    .orderBy('workspace_id')
    .limit(max)
    .execute()
  return rows.map(({ workspace_id }) => workspace_id)
}

/** The newest record of a deletion by retention. */
export async function findDeletion(db: Db, workspaceId: string): Promise<AuditRow | undefined> {
  return await db
    .selectFrom('audit_records')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('operation', '=', retentionOperation)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** A workspace with an expired record other than those of deletions, which always have something behind them. */
export async function findExpired(tx: Tx, before: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom('audit_records')
    .select('workspace_id')
    .where('recorded_at', '<', before)
    .where('operation', '!=', retentionOperation)
    .limit(1)
    .executeTakeFirst()
  return row?.workspace_id
}

/** The last of the oldest records of a workspace that are expired, at most some of them. */
export async function findLastExpired(
  tx: Tx,
  workspaceId: string,
  before: string,
  max: number,
): Promise<(Link & { count: number }) | undefined> {
  const rows = await tx
    .selectFrom('audit_records')
    .select(['sequence', 'hash'])
    .where('workspace_id', '=', workspaceId)
    .where('recorded_at', '<', before)
    .orderBy('sequence')
    .limit(max)
    .execute()
  const last = rows.at(-1)
  return last && { sequence: Number(last.sequence), hash: last.hash, count: rows.length }
}

export async function deleteThrough(tx: Tx, workspaceId: string, sequence: number): Promise<void> {
  await tx
    .deleteFrom('audit_records')
    .where('workspace_id', '=', workspaceId)
    .where('sequence', '<=', sequence)
    .execute()
}
