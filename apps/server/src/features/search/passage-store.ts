import { type Insertable, type Selectable, sql } from 'kysely'
import { type Page, type PageRequest, paginate } from '../../platform/db/paginate.js'
import { prepared } from '../../platform/db/prepared.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import { type FileScope, searchableFiles } from '../files/lookup/index.js'
import type { PassagesTable } from './table.js'

export type PassageRow = Selectable<PassagesTable>

/** A passage at or near a match. */
export interface NearbyRow extends PassageRow {
  /** Number of the matching passage. */
  hit: number
}

/** Returns the numbers of the rows, in their order. */
export async function insertPassages(
  tx: Tx,
  rows: readonly Insertable<PassagesTable>[],
): Promise<number[]> {
  if (rows.length === 0) return []
  const made = await tx
    .insertInto('passages')
    .values([...rows])
    .returning(['number', 'position'])
    .execute()
  // Neither engine guarantees the order of the rows that it returns.
  const byPosition = new Map(made.map(({ number, position }) => [position, number]))
  return rows.map(({ position }) => byPosition.get(position) ?? 0)
}

const selectNearby = prepared<{ botId: string; numbers: string; depth: number }>()(
  (db, p, dialect) =>
    db
      .selectFrom(dialect.jsonTexts(p('numbers')))
      .crossJoin('passages as hit')
      .crossJoin('passages as near')
      .selectAll('near')
      .select('hit.number as hit')
      .where('hit.number', '=', sql<number>`cast(given.value as bigint)`)
      .where('hit.bot_id', '=', p('botId'))
      .whereRef('near.file_id', '=', 'hit.file_id')
      .whereRef('near.generation', '=', 'hit.generation')
      .where((eb) =>
        eb.between(
          'near.position',
          eb('hit.position', '-', p('depth')),
          eb('hit.position', '+', p('depth')),
        ),
      ),
)

/** The passages of all matches and those at most `depth` before and after them, in reading order. */
export async function listNearby(
  db: Db,
  botId: string,
  numbers: readonly number[],
  depth: number,
): Promise<NearbyRow[]> {
  if (numbers.length === 0) return []
  const rows = await selectNearby(db, { botId, numbers: JSON.stringify(numbers), depth })
  // SQLite would copy the contents to sort them.
  return rows.sort((a, b) => a.hit - b.hit || a.position - b.position)
}

/** At most `limit` passages of one generation in order, from a position on. */
export async function listGeneration(
  db: Db,
  { botId, fileId, generation }: { botId: string; fileId: string; generation: number },
  page: { from: number; limit: number },
): Promise<PassageRow[]> {
  return await db
    .selectFrom('passages')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('file_id', '=', fileId)
    .where('generation', '=', generation)
    .where('position', '>=', page.from)
    .orderBy('position')
    .limit(page.limit)
    .execute()
}

/** The passages of one generation of a file. */
interface Place {
  botId: string
  fileId: string
  generation: number
}

function inPlace(db: Db, { botId, fileId, generation }: Place) {
  return db
    .selectFrom('passages')
    .where('bot_id', '=', botId)
    .where('file_id', '=', fileId)
    .where('generation', '=', generation)
}

/** The given numbers that belong to a generation. */
export async function listOwnNumbers(
  db: Db,
  place: Place,
  numbers: readonly number[],
): Promise<number[]> {
  if (numbers.length === 0) return []
  const own = inPlace(db, place).select('number').where('number', 'in', numbers)
  return (await own.execute()).map(({ number }) => number)
}

/** Some passages of a generation in reading order: one by its id, some by their numbers, or the first ones. */
export async function listOfFile(
  db: Db,
  place: Place,
  wanted: { passageId: string } | { numbers: readonly number[] } | { first: number },
): Promise<PassageRow[]> {
  const all = inPlace(db, place).selectAll().orderBy('position')
  if ('passageId' in wanted) return await all.where('id', '=', wanted.passageId).execute()
  if ('first' in wanted) return await all.limit(wanted.first).execute()
  return await all.where('number', 'in', wanted.numbers).execute()
}

/** Whether a file has a passage in any generation. */
export async function hasPassage(
  db: Db,
  botId: string,
  fileId: string,
  passageId: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('passages')
    .select('number')
    .where('bot_id', '=', botId)
    .where('file_id', '=', fileId)
    .where('id', '=', passageId)
    .executeTakeFirst()
  return row !== undefined
}

/** The passages of a file that search finds for the caller, in reading order. */
export async function pagePassages(
  db: Db,
  scope: FileScope,
  fileId: string,
  page: PageRequest<'position'>,
): Promise<Page<PassageRow>> {
  const query = db
    .selectFrom('passages')
    .innerJoin(searchableFiles(db, scope, []).as('found'), (join) =>
      join
        .onRef('found.file_id', '=', 'passages.file_id')
        .onRef('found.generation', '=', 'passages.generation'),
    )
    .selectAll('passages')
    .where('passages.bot_id', '=', scope.botId)
    .where('passages.file_id', '=', fileId)
  return await paginate(query, page, 'passages')
}

/** Passages that are deleted in one transaction: their words are deleted with them, which takes time. */
export const passagesDeletedAtOnce = 50

/** Deletes at most `limit` passages of one generation, and returns their number. */
export async function deleteGeneration(
  tx: Tx,
  botId: string,
  fileId: string,
  generation: number,
  limit: number,
): Promise<number> {
  const doomed = tx
    .selectFrom('passages')
    .select('number')
    .where('bot_id', '=', botId)
    .where('file_id', '=', fileId)
    .where('generation', '=', generation)
    .limit(limit)
  return await deleteThose(tx, doomed)
}

/** The passages of a file that are still needed: those of some generations, and all newer ones. */
export interface UsefulPassages {
  generations: readonly number[]
  newest: number
}

/** At most `limit` texts of passages of a bot, in order, after a number. */
export async function listTexts(
  db: Db | Tx,
  botId: string,
  page: { after: number; limit: number },
): Promise<Pick<PassageRow, 'number' | 'content' | 'headings'>[]> {
  return await db
    .selectFrom('passages')
    .select(['number', 'content', 'headings'])
    .where('bot_id', '=', botId)
    .where('number', '>', page.after)
    .orderBy('number')
    .limit(page.limit)
    .execute()
}

/** At most `limit` texts of passages of a file that are no longer needed, in order, after a number. */
export async function listUseless(
  db: Db,
  botId: string,
  fileId: string,
  useful: UsefulPassages | undefined,
  page: { after: number; limit: number },
): Promise<Pick<PassageRow, 'number' | 'content' | 'headings' | 'own_headings'>[]> {
  return await useless(db, botId, fileId, useful)
    .select(['content', 'headings', 'own_headings'])
    .where('number', '>', page.after)
    .orderBy('number')
    .limit(page.limit)
    .execute()
}

/** Deletes at most `limit` passages of a file that are no longer needed, and returns their number. */
export async function deleteUseless(
  tx: Tx,
  botId: string,
  fileId: string,
  useful: UsefulPassages | undefined,
  limit: number,
): Promise<number> {
  return await deleteThose(tx, useless(tx, botId, fileId, useful).limit(limit))
}

function useless(db: Db | Tx, botId: string, fileId: string, useful: UsefulPassages | undefined) {
  const ofFile = db
    .selectFrom('passages')
    .select('number')
    .where('bot_id', '=', botId)
    .where('file_id', '=', fileId)
  if (useful === undefined) return ofFile
  // No generation is 0; an empty list is not valid SQL on every engine.
  return ofFile
    .where('generation', '<=', useful.newest)
    .where('generation', 'not in', [0, ...useful.generations])
}

/** Deletes at most `limit` passages of a bot, and returns their number. */
export async function deleteOfBot(tx: Tx, botId: string, limit: number): Promise<number> {
  const doomed = tx.selectFrom('passages').select('number').where('bot_id', '=', botId).limit(limit)
  return await deleteThose(tx, doomed)
}

async function deleteThose(tx: Tx, numbers: ReturnType<typeof selectNumbers>): Promise<number> {
  const result = await tx.deleteFrom('passages').where('number', 'in', numbers).executeTakeFirst()
  return Number(result.numDeletedRows)
}

function selectNumbers(tx: Tx) {
  return tx.selectFrom('passages').select('number')
}
