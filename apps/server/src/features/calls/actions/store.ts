import { type Page, type PageRequest, pageOf, paginate } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { ActionRunsTable } from './table.js'

export type RunRow = ActionRunsTable

/** Filter of a list of action runs. */
export interface RunFilter {
  /** Alias of an installation, or the name of an integration. */
  integration: string
  /** ISO 8601 times, both included; undefined for any. */
  from: string | undefined
  until: string | undefined
}

export async function insertRun(tx: Tx, row: RunRow): Promise<void> {
  await tx.insertInto('action_runs').values(row).execute()
}

export async function pageRuns(
  db: Db,
  botId: string,
  { integration, from, until }: RunFilter,
  page: PageRequest<'created_at'>,
): Promise<Page<RunRow>> {
  /** One query per column: each has an index, but an `or` of both could use neither. */
  const named = (name: 'alias' | 'integration') => {
    let query = db
      .selectFrom('action_runs')
      .where('bot_id', '=', botId)
      .where(name, '=', integration)
    if (from !== undefined) query = query.where('created_at', '>=', from)
    if (until !== undefined) query = query.where('created_at', '<=', until)
    return db.selectFrom(pageOf(query.select(['id', 'created_at']), page).as(name)).select('id')
  }
  const either = named('alias').unionAll(named('integration'))
  return await paginate(db.selectFrom('action_runs').selectAll().where('id', 'in', either), page)
}

/** @returns how many runs of a bot were deleted, at most `limit` */
export async function deleteSomeOf(tx: Tx, botId: string, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('action_runs')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('action_runs').select('id').where('bot_id', '=', botId).limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

/** @returns how many runs from before an ISO 8601 time were deleted, at most `limit` */
export async function deleteOld(tx: Tx, before: string, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('action_runs')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('action_runs').select('id').where('created_at', '<', before).limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
