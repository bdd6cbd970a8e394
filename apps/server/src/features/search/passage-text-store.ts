import {
  type ContextOptions,
  type FileName,
  toEmbeddingText,
  toFileName,
  toIndexText,
} from '@botstead/documents/text'
import { decodeJson } from '../../platform/db/columns.js'
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

/** The texts of candidates that are compared with a question, in the form of `toIndexText`. */
export interface CandidateTexts {
  /** Words of passages, including those of their headings and of the keys of their files. */
  texts: ReadonlyMap<number, string>
  /** Names of their files alone. */
  names: ReadonlyMap<number, string>
}

/** Reads the contents of some passages, and the names of their files. */
export async function readCandidateTexts(
  db: Db,
  numbers: readonly number[],
): Promise<CandidateTexts> {
  if (numbers.length === 0) return { texts: new Map(), names: new Map() }
  const rows = await db
    .selectFrom('passages')
    .innerJoin(fileKeys(db).as('file'), 'file.file_id', 'passages.file_id')
    .select(['passages.number', 'passages.content', 'passages.headings', 'file.key'])
    .where('passages.number', 'in', numbers)
    .execute()
  // Most candidates of a question belong to a few files.
  const known = new Map<string, FileName>()
  const texts = new Map<number, string>()
  const names = new Map<number, string>()
  for (const { number, content, headings, key } of rows) {
    const { folders, name } = known.get(key) ?? toWords(toFileName(key))
    known.set(key, { folders, name })
    const text = toIndexText([...decodeJson<string[]>(headings), content].join('\n'))
    texts.set(number, `${folders} ${name} ${text}`)
    names.set(number, name)
  }
  return { texts, names }
}

function toWords({ folders, name }: FileName): FileName {
  return { folders: toIndexText(folders), name: toIndexText(name) }
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

/** The contents of passages, by their numbers. */
export async function readContents(
  db: Db,
  numbers: readonly number[],
): Promise<Map<number, string>> {
  const rows = await db
    .selectFrom('passages')
    .select(['number', 'content'])
    .where('number', 'in', numbers)
    .execute()
  return new Map(rows.map(({ number, content }) => [number, content]))
}

/** Changes the headings above passages. */
export async function patchHeadings(
  tx: Tx,
  numbers: readonly number[],
  headings: string,
): Promise<void> {
  await tx.updateTable('passages').set({ headings }).where('number', 'in', numbers).execute()
}
