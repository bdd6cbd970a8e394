import { type ContextOptions, toEmbeddingText } from '@botstead/documents/text'
import { sql } from 'kysely'
import { decodeJson, type JsonColumn } from '../../platform/db/columns.js'
import { prepared } from '../../platform/db/prepared.js'
import type { Db, Tx } from '../../platform/db/schema.js'
import { fileKeys, indexingRequests, toIndexingConfiguration } from '../files/lookup/index.js'
import type { PassageRow } from './passage-store.js'

/** The input of a vector. */
export interface PassageText {
  number: number
  /** UUID of the passage: numbers can be reused, ids cannot. */
  id: string
  /** Markdown, below as many of its headings as the upload requested. */
  text: string
}

/** The texts of some passages of a bot; those that were deleted are omitted. */
export async function readPassageTexts(
  db: Db,
  botId: string,
  numbers: readonly number[],
): Promise<PassageText[]> {
  if (numbers.length === 0) return []
  const rows = await db
    .selectFrom('passages')
    .leftJoin(indexingRequests(db).as('request'), (join) =>
      join
        .onRef('request.file_id', '=', 'passages.file_id')
        .onRef('request.generation', '=', 'passages.generation'),
    )
    .select([
      'passages.number',
      'passages.id',
      'passages.content',
      'passages.headings',
      'request.indexing',
    ])
    .where('passages.bot_id', '=', botId)
    .where('passages.number', 'in', numbers)
    .orderBy('passages.number')
    .execute()
  return rows.map(({ number, id, content, headings, indexing }) => ({
    number,
    id,
    text: toEmbeddingText(
      { content, headings: decodeJson(headings) },
      toIndexingConfiguration(indexing).chunking,
    ),
  }))
}

/** Numbers of the passages of a bot after a number, in order. */
export async function listNumbers(
  db: Db,
  botId: string,
  after: number,
  limit: number,
): Promise<number[]> {
  const rows = await db
    .selectFrom('passages')
    .select('number')
    .where('bot_id', '=', botId)
    .where('number', '>', after)
    .orderBy('number')
    .limit(limit)
    .execute()
  return rows.map(({ number }) => number)
}

export async function countPassages(db: Db, botId: string): Promise<number> {
  const { count } = await db
    .selectFrom('passages')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('bot_id', '=', botId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** The numbers of the given passages that are unchanged. */
export async function listUnchanged(
  tx: Tx,
  passages: readonly Pick<PassageText, 'number' | 'id'>[],
): Promise<Set<number>> {
  if (passages.length === 0) return new Set()
  const rows = await tx
    .selectFrom('passages')
    .select(['number', 'id'])
    .where(
      'number',
      'in',
      passages.map(({ number }) => number),
    )
    .execute()
  const ids = new Map(rows.map(({ number, id }) => [number, id]))
  return new Set(passages.flatMap(({ number, id }) => (ids.get(number) === id ? [number] : [])))
}

/** A passage without its content, and the key of its file. */
export interface PassageFacts {
  number: number
  /** UUID of the passage: its content never changes. */
  id: string
  headings: JsonColumn
  own_headings: JsonColumn
  /** Key of the file. */
  key: string
}

/** Numbers of passages in one parameter, as JSON, so that a query for any number of them is prepared once. */
interface ListOfNumbers {
  numbers: string
}

const givenNumber = sql<number>`cast(given.value as bigint)`

const selectFacts = prepared<ListOfNumbers>()((db, p, dialect) =>
  db
    .selectFrom(dialect.jsonTexts(p('numbers')))
    .crossJoin('passages')
    .crossJoin(fileKeys(db).as('file'))
    .select([
      'passages.number',
      'passages.id',
      'passages.headings',
      'passages.own_headings',
      'file.key',
    ])
    .where('passages.number', '=', givenNumber)
    .whereRef('file.file_id', '=', 'passages.file_id'),
)

/** The facts of some passages of any bot; those that were deleted are omitted. */
export async function readFacts(db: Db, numbers: readonly number[]): Promise<PassageFacts[]> {
  return await selectFacts(db, { numbers: JSON.stringify(numbers) })
}

const selectContents = prepared<ListOfNumbers>()((db, p, dialect) =>
  db
    .selectFrom(dialect.jsonTexts(p('numbers')))
    .crossJoin('passages')
    .select(['passages.number', 'passages.content'])
    .where('passages.number', '=', givenNumber),
)

/** The contents of some passages of any bot, by their numbers; those that were deleted are omitted. */
export async function readContents(
  db: Db,
  numbers: readonly number[],
): Promise<Map<number, string>> {
  if (numbers.length === 0) return new Map()
  const rows = await selectContents(db, { numbers: JSON.stringify(numbers) })
  return new Map(rows.map(({ number, content }) => [number, content]))
}

/** The position of a passage, and its headings. */
export type PassageHeadings = Pick<
  PassageRow,
  'number' | 'id' | 'position' | 'subtype' | 'headings' | 'own_headings'
>

/** Generations of a file that have passages, with the options of their uploads. */
export async function listGenerations(
  db: Db,
  fileId: string,
): Promise<{ generation: number; context: ContextOptions }[]> {
  const rows = await db
    .selectFrom('passages')
    .leftJoin(indexingRequests(db).as('request'), (join) =>
      join
        .onRef('request.file_id', '=', 'passages.file_id')
        .onRef('request.generation', '=', 'passages.generation'),
    )
    .select(['passages.generation', 'request.indexing'])
    .where('passages.file_id', '=', fileId)
    .where('passages.position', '=', 0)
    .execute()
  return rows.map(({ generation, indexing }) => ({
    generation,
    context: toIndexingConfiguration(indexing).chunking ?? {},
  }))
}

/** The passages of a generation without their contents, in order. */
export async function listHeadings(
  db: Db,
  fileId: string,
  generation: number,
): Promise<PassageHeadings[]> {
  return await db
    .selectFrom('passages')
    .select(['number', 'id', 'position', 'subtype', 'headings', 'own_headings'])
    .where('file_id', '=', fileId)
    .where('generation', '=', generation)
    .orderBy('position')
    .execute()
}

/** Changes the headings above passages. */
export async function patchHeadings(
  tx: Tx,
  numbers: readonly number[],
  headings: string,
): Promise<void> {
  await tx.updateTable('passages').set({ headings }).where('number', 'in', numbers).execute()
}
