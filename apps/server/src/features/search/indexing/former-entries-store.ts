import type { ContextOptions } from '@botstead/documents/text'
import type { Db, Tx } from '../../../platform/db/schema.js'
import { indexingRequests, toIndexingConfiguration } from '../../files/lookup/index.js'
import type { PassageRow } from '../passage-store.js'

/** Where a passage stands, and below what. */
export type PlacedRow = Pick<
  PassageRow,
  'number' | 'id' | 'position' | 'subtype' | 'headings' | 'own_headings'
>

/** Generations of a file that have passages, and what their uploads wished. */
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

/** The passages of a generation without what they say, in order. */
export async function listPlaces(db: Db, fileId: string, generation: number): Promise<PlacedRow[]> {
  return await db
    .selectFrom('passages')
    .select(['number', 'id', 'position', 'subtype', 'headings', 'own_headings'])
    .where('file_id', '=', fileId)
    .where('generation', '=', generation)
    .orderBy('position')
    .execute()
}

/** What passages say, by their numbers. */
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

/** Puts passages below other headings. */
export async function patchHeadings(
  tx: Tx,
  numbers: readonly number[],
  headings: string,
): Promise<void> {
  await tx.updateTable('passages').set({ headings }).where('number', 'in', numbers).execute()
}
