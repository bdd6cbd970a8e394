import type { Selectable } from 'kysely'
import { type Page, type PageRequest, paginate } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { BotIssueEventsTable, BotIssuesTable } from './table.js'

export type IssueRow = Selectable<BotIssuesTable>
export type IssueEventRow = Selectable<BotIssueEventsTable>

/** Adds events to the count of an issue, or inserts the issue if it is new. @returns its id */
export async function countIssue(tx: Tx, row: IssueRow): Promise<string> {
  const { id: _, bot_id: __, fingerprint: ___, created_at: ____, ...changes } = row
  const { id } = await tx
    .insertInto('bot_issues')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['bot_id', 'fingerprint']).doUpdateSet((eb) => ({
        ...changes,
        events_count: eb('bot_issues.events_count', '+', eb.ref('excluded.events_count')),
      })),
    )
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Adds events to an issue, of which the newest `keep` stay. */
export async function addEvents(
  tx: Tx,
  issueId: string,
  rows: readonly IssueEventRow[],
  keep: number,
): Promise<void> {
  if (rows.length === 0) return
  await tx
    .insertInto('bot_issue_events')
    .values([...rows])
    .execute()
  await tx
    .deleteFrom('bot_issue_events')
    .where('issue_id', '=', issueId)
    .where('id', 'not in', ({ selectFrom }) =>
      selectFrom('bot_issue_events')
        .select('id')
        .where('issue_id', '=', issueId)
        .orderBy('id', 'desc')
        .limit(keep),
    )
    .execute()
}

/** Ids of the issues of a bot beyond the `keep` that happened last, at most `limit`. */
export async function listSurplus(
  tx: Tx,
  botId: string,
  keep: number,
  limit: number,
): Promise<string[]> {
  const rows = await tx
    .selectFrom('bot_issues')
    .select('id')
    .where('bot_id', '=', botId)
    .orderBy('last_seen_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(keep)
    .execute()
  return rows.map(({ id }) => id)
}

/** Ids of issues that happened last before an ISO 8601 time, at most `limit`. */
export async function listOld(tx: Tx, before: string, limit: number): Promise<string[]> {
  const rows = await tx
    .selectFrom('bot_issues')
    .select('id')
    .where('last_seen_at', '<', before)
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

export async function deleteIssues(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  // The issue first: a transaction that adds events has locked its row.
  await tx.deleteFrom('bot_issues').where('id', 'in', ids).execute()
  await tx.deleteFrom('bot_issue_events').where('issue_id', 'in', ids).execute()
}

export async function findIssue(
  executor: Db | Tx,
  botId: string,
  id: string,
): Promise<IssueRow | undefined> {
  return await executor
    .selectFrom('bot_issues')
    .selectAll()
    .where('id', '=', id)
    .where('bot_id', '=', botId)
    .executeTakeFirst()
}

export async function pageIssues(
  db: Db,
  botId: string,
  page: PageRequest<'last_seen_at'>,
): Promise<Page<IssueRow>> {
  return await paginate(db.selectFrom('bot_issues').selectAll().where('bot_id', '=', botId), page)
}

/** The events of an issue that are kept, newest first. */
export async function listEvents(db: Db, botId: string, issueId: string): Promise<IssueEventRow[]> {
  return await db
    .selectFrom('bot_issue_events')
    .selectAll()
    .where('issue_id', '=', issueId)
    .where('bot_id', '=', botId)
    .orderBy('id', 'desc')
    .execute()
}

/** @returns how many rows of a bot were deleted */
export async function deleteSomeOf(tx: Tx, botId: string, limit: number): Promise<number> {
  const events = await tx
    .deleteFrom('bot_issue_events')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('bot_issue_events').select('id').where('bot_id', '=', botId).limit(limit),
    )
    .executeTakeFirst()
  const issues = await tx
    .deleteFrom('bot_issues')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('bot_issues').select('id').where('bot_id', '=', botId).limit(limit),
    )
    .executeTakeFirst()
  return Number(events.numDeletedRows) + Number(issues.numDeletedRows)
}
