import type { Updateable } from 'kysely'
import { dialectOf } from '../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../platform/db/paginate.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import type { CaseRow, EvaluationCasesTable, SetRow } from './table.js'

export async function insertSet(tx: Tx, row: SetRow): Promise<void> {
  await tx.insertInto('evaluation_sets').values(row).execute()
}

export async function findSet(
  executor: Db | Tx,
  botId: string,
  id: string,
): Promise<SetRow | undefined> {
  return await executor
    .selectFrom('evaluation_sets')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** The row, locked for the rest of the transaction. */
export async function lockSet(tx: Tx, botId: string, id: string): Promise<SetRow | undefined> {
  const query = tx
    .selectFrom('evaluation_sets')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('id', '=', id)
  return await dialectOf(tx).lockRows(query).executeTakeFirst()
}

export async function pageSets(
  db: Db,
  botId: string,
  page: PageRequest<'created_at'>,
): Promise<Page<SetRow>> {
  const query = db.selectFrom('evaluation_sets').selectAll().where('bot_id', '=', botId)
  return await paginate(query, page)
}

/** Counts the sets and cases of a bot. */
export async function countOfBot(tx: Tx, botId: string): Promise<{ sets: number; cases: number }> {
  const row = await tx
    .selectFrom('evaluation_sets')
    .select((eb) => [eb.fn.countAll().as('sets'), eb.fn.sum('cases').as('cases')])
    .where('bot_id', '=', botId)
    .executeTakeFirstOrThrow()
  return { sets: Number(row.sets), cases: Number(row.cases ?? 0) }
}

export async function patchSet(
  tx: Tx,
  id: string,
  patch: Partial<Pick<SetRow, 'name' | 'updated_at'>>,
): Promise<void> {
  await tx.updateTable('evaluation_sets').set(patch).where('id', '=', id).execute()
}

/** Adds to the number of cases of a set. */
export async function addToCount(tx: Tx, id: string, change: number): Promise<void> {
  await tx
    .updateTable('evaluation_sets')
    .set((eb) => ({ cases: eb('cases', '+', change) }))
    .where('id', '=', id)
    .execute()
}

export async function deleteSet(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('evaluation_sets').where('id', '=', id).execute()
}

export async function listSetIds(db: Db, botId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('evaluation_sets')
    .select('id')
    .where('bot_id', '=', botId)
    .execute()
  return rows.map(({ id }) => id)
}

export async function insertCase(tx: Tx, row: CaseRow): Promise<void> {
  await tx.insertInto('evaluation_cases').values(row).execute()
}

/** The row, locked for the rest of the transaction. */
export async function lockCase(tx: Tx, setId: string, id: string): Promise<CaseRow | undefined> {
  const query = tx
    .selectFrom('evaluation_cases')
    .selectAll()
    .where('set_id', '=', setId)
    .where('id', '=', id)
  return await dialectOf(tx).lockRows(query).executeTakeFirst()
}

/** Ids of the cases of a set whose key or id is among the given ones, by that. */
export async function findCaseIds(
  tx: Tx,
  setId: string,
  names: readonly string[],
): Promise<Map<string, string>> {
  if (names.length === 0) return new Map()
  const rows = await tx
    .selectFrom('evaluation_cases')
    .select(['id', 'key'])
    .where('set_id', '=', setId)
    .where((eb) => eb.or([eb('id', 'in', names), eb('key', 'in', names)]))
    .execute()
  return new Map([
    ...rows.map(({ id }) => [id, id] as const),
    ...rows.flatMap(({ id, key }) => (key === null ? [] : [[key, id] as const])),
  ])
}

export async function pageCases(
  db: Db,
  setId: string,
  page: PageRequest<'id'>,
): Promise<Page<CaseRow>> {
  const query = db.selectFrom('evaluation_cases').selectAll().where('set_id', '=', setId)
  return await paginate(query, page)
}

/** At most `limit` cases of a set in order, after an id. */
export async function listCases(
  db: Db,
  setId: string,
  page: { after: string; limit: number },
): Promise<CaseRow[]> {
  return await db
    .selectFrom('evaluation_cases')
    .selectAll()
    .where('set_id', '=', setId)
    .where('id', '>', page.after)
    .orderBy('id')
    .limit(page.limit)
    .execute()
}

export async function patchCase(
  tx: Tx,
  id: string,
  patch: Updateable<EvaluationCasesTable>,
): Promise<void> {
  await tx.updateTable('evaluation_cases').set(patch).where('id', '=', id).execute()
}

/** Replaces the targets of a case, unless they have changed since they were read. */
export async function patchTargets(
  tx: Tx,
  id: string,
  before: Pick<CaseRow, 'right_targets' | 'wrong_targets'> | undefined,
  { right, wrong }: { right: string; wrong: string },
): Promise<void> {
  if (before === undefined) return
  await tx
    .updateTable('evaluation_cases')
    .set({ right_targets: right, wrong_targets: wrong })
    .where('id', '=', id)
    .where('right_targets', '=', before.right_targets)
    .where('wrong_targets', '=', before.wrong_targets)
    .execute()
}

export async function deleteCase(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('evaluation_cases').where('id', '=', id).execute()
}

/** Deletes at most `limit` cases of a set, and returns their number. */
export async function deleteCasesOf(tx: Tx, setId: string, limit: number): Promise<number> {
  const some = tx
    .selectFrom('evaluation_cases')
    .select('id')
    .where('set_id', '=', setId)
    .limit(limit)
  const result = await tx.deleteFrom('evaluation_cases').where('id', 'in', some).executeTakeFirst()
  return Number(result.numDeletedRows)
}
