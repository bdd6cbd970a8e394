import type { Insertable, Updateable } from 'kysely'
import { dialectOf } from '../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../platform/db/paginate.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import type { EvaluationResultsTable, EvaluationRunsTable, ResultRow, RunRow } from './table.js'

export async function insertRun(tx: Tx, row: RunRow): Promise<void> {
  await tx.insertInto('evaluation_runs').values(row).execute()
}

/** A run of a set of a bot. */
export async function findRun(
  db: Db,
  botId: string,
  setId: string,
  id: string,
): Promise<RunRow | undefined> {
  return await db
    .selectFrom('evaluation_runs')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('set_id', '=', setId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** The completed run of the same set before another one. */
export async function findRunBefore(
  db: Db,
  { bot_id, set_id, id }: RunRow,
): Promise<RunRow | undefined> {
  return await db
    .selectFrom('evaluation_runs')
    .selectAll()
    .where('bot_id', '=', bot_id)
    .where('set_id', '=', set_id)
    .where('state', '=', 'completed')
    .where('id', '<', id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** The next run of a bot that is not completed; the oldest first. */
export async function findNextRun(db: Db, botId: string): Promise<RunRow | undefined> {
  const [next] = await db
    .selectFrom('evaluation_runs')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('state', 'in', ['running', 'waiting'])
    .orderBy('id')
    .limit(1)
    .execute()
  return next
}

export async function countUnfinished(tx: Tx, botId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('evaluation_runs')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('bot_id', '=', botId)
    .where('state', 'in', ['running', 'waiting'])
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function pageRuns(
  db: Db,
  setId: string,
  page: PageRequest<'created_at'>,
): Promise<Page<RunRow>> {
  const query = db.selectFrom('evaluation_runs').selectAll().where('set_id', '=', setId)
  return await paginate(query, page)
}

/** Changes a run; returns whether it exists. */
export async function patchRun(
  tx: Tx,
  id: string,
  patch: Updateable<EvaluationRunsTable>,
): Promise<boolean> {
  const result = await tx
    .updateTable('evaluation_runs')
    .set(patch)
    .where('id', '=', id)
    .executeTakeFirst()
  return result.numUpdatedRows > 0
}

/** Keeps a run from being deleted until the transaction ends; returns whether it exists. */
export async function lockRun(tx: Tx, id: string): Promise<boolean> {
  const query = tx.selectFrom('evaluation_runs').select('id').where('id', '=', id)
  return (await dialectOf(tx).lockRows(query).executeTakeFirst()) !== undefined
}

/** Ends all runs of a bot that are not completed. */
export async function failUnfinished(
  tx: Tx,
  botId: string,
  patch: Pick<RunRow, 'failed_reason' | 'completed_at'>,
): Promise<void> {
  await tx
    .updateTable('evaluation_runs')
    .set({ ...patch, state: 'failed' })
    .where('bot_id', '=', botId)
    .where('state', 'in', ['running', 'waiting'])
    .execute()
}

/** Ids of the runs of a bot, or of one of its sets, newest first. */
export async function listRunIds(db: Db, botId: string, setId?: string): Promise<string[]> {
  const rows = await db
    .selectFrom('evaluation_runs')
    .select('id')
    .where('bot_id', '=', botId)
    .$if(setId !== undefined, (query) => query.where('set_id', '=', setId ?? ''))
    .orderBy('id', 'desc')
    .execute()
  return rows.map(({ id }) => id)
}

/** Deletes a run, which stores no results without its row, and leaves those that it has stored. */
export async function deleteRun(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('evaluation_runs').where('id', '=', id).execute()
}

export async function insertResults(
  tx: Tx,
  rows: readonly Insertable<EvaluationResultsTable>[],
): Promise<void> {
  if (rows.length === 0) return
  await tx
    .insertInto('evaluation_results')
    .values([...rows])
    .execute()
}

/** Id of the last case that a run has the result of. */
export async function findLastCase(db: Db, runId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('evaluation_results')
    .select('id')
    .where('run_id', '=', runId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/** nDCG is a quotient, which may miss 1 by its last digit. */
export const perfect = 1 - 1e-9

/** Filter of listed results. */
export type ResultFilter = 'misses' | 'wrong' | undefined

export async function pageResults(
  db: Db,
  runId: string,
  only: ResultFilter,
  page: PageRequest<'ndcg'>,
): Promise<Page<ResultRow>> {
  const query = db
    .selectFrom('evaluation_results')
    .selectAll()
    .where('run_id', '=', runId)
    .$if(only === 'misses', (some) => some.where('ndcg', '<', perfect))
    .$if(only === 'wrong', (some) => some.where('wrong', '>', 0))
  return await paginate(query, page)
}

/** A result without the passages that were found. */
export type Figures = Omit<ResultRow, 'details' | 'bot_id' | 'run_id'>

/** The figures of all cases of a run. */
export async function listFigures(db: Db, runId: string): Promise<Figures[]> {
  return await db
    .selectFrom('evaluation_results')
    .select([
      'id',
      'question',
      'answerable',
      'ndcg',
      'recall',
      'mrr',
      'rank',
      'score',
      'wrong',
      'gone',
      'milliseconds',
    ])
    .where('run_id', '=', runId)
    .execute()
}

/** Deletes at most `limit` results of a run, and returns their number. */
export async function deleteResultsOf(tx: Tx, runId: string, limit: number): Promise<number> {
  const some = tx
    .selectFrom('evaluation_results')
    .select('id')
    .where('run_id', '=', runId)
    .limit(limit)
  const result = await tx
    .deleteFrom('evaluation_results')
    .where('run_id', '=', runId)
    .where('id', 'in', some)
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

/** Deletes the results of a run, of which there must be few. */
export async function deleteLastResultsOf(tx: Tx, runId: string): Promise<void> {
  await tx.deleteFrom('evaluation_results').where('run_id', '=', runId).execute()
}
