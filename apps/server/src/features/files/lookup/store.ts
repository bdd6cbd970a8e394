import type { Expression, ExpressionBuilder, ExpressionWrapper, SqlBool } from 'kysely'
import { prepared } from '../../../platform/db/prepared.js'
import type { Db, Schema, Tx } from '../../../platform/db/schema.js'
import type { FileRow } from '../table.js'

/** The files of a bot that a caller may see. */
export interface FileScope {
  botId: string
  /** Set for an integration, which sees its own files and those shared with integrations. */
  integrationId: string | undefined
  /** ISO 8601; files that have expired by then are hidden, whether swept or not. */
  now: string
}

/** A condition on one tag; all of its members must hold. */
export interface TagCondition {
  name: string
  /** One of these values. */
  in?: readonly string[]
  /** None of these values; a file without the tag passes. */
  not?: readonly string[]
  exists?: boolean
}

/** A scope whose members may be parameters of a prepared query. */
export type ScopeExpressions = { [Name in keyof FileScope]: FileScope[Name] | Expression<string> }

/** Whether a row of `files` is visible to the caller. */
export function isVisible(
  eb: ExpressionBuilder<Schema, 'files'>,
  scope: ScopeExpressions,
): ExpressionWrapper<Schema, 'files', SqlBool> {
  const { integrationId } = scope
  return eb.and([
    eb('files.bot_id', '=', scope.botId),
    eb.or([eb('files.expires_at', 'is', null), eb('files.expires_at', '>', scope.now)]),
    ...(integrationId === undefined
      ? []
      : [eb.or([eb('files.key_space', '=', integrationId), eb('files.shared', '=', 1)])]),
  ])
}

/** Whether the tags of a row of `files` meet all conditions. */
export function matchesTags(
  eb: ExpressionBuilder<Schema, 'files'>,
  botId: string | Expression<string>,
  conditions: readonly TagCondition[],
): ExpressionWrapper<Schema, 'files', SqlBool> {
  // Selects ids by tag instead of filtering each file: the index is read once per query.
  const tagged = (name: string, values?: readonly string[]) =>
    eb
      .selectFrom('file_tags')
      .select('file_tags.file_id')
      .where('file_tags.bot_id', '=', botId)
      .where('file_tags.name', '=', name)
      .$if(values !== undefined, (query) =>
        query.where('file_tags.value', 'in', atLeastOne(values)),
      )
  return eb.and(
    conditions.flatMap((condition) => [
      ...(condition.in ? [eb('files.id', 'in', tagged(condition.name, condition.in))] : []),
      ...(condition.not ? [eb('files.id', 'not in', tagged(condition.name, condition.not))] : []),
      ...(condition.exists !== undefined
        ? [eb('files.id', condition.exists ? 'in' : 'not in', tagged(condition.name))]
        : []),
    ]),
  )
}

/** PostgreSQL does not accept an empty list; null replaces it, because nothing equals null. */
function atLeastOne(values: readonly string[] | undefined): (string | null)[] {
  return values?.length ? [...values] : [null]
}

/**
 * The files whose passages a caller may find, with the generation of those passages. Search joins this with its
 * passages, so that visibility is decided here and in the same statement.
 */
export function searchableFiles(
  executor: Db | Tx,
  scope: ScopeExpressions,
  conditions: readonly TagCondition[],
) {
  const { integrationId } = scope
  return executor
    .selectFrom('files')
    .select(['files.id as file_id', 'files.passages_generation as generation'])
    .where('files.passages_generation', 'is not', null)
    .where((eb) => isVisible(eb, scope))
    .where((eb) => matchesTags(eb, scope.botId, conditions))
    .$if(integrationId !== undefined, (query) =>
      // The passages themselves must have been indexed for integrations, not only a later content.
      query.where((eb) =>
        eb.or([
          eb('files.key_space', '=', integrationId ?? ''),
          eb('files.passages_shared', '=', 1),
        ]),
      ),
    )
}

/** Whether a caller may find the passages of a file whose tags meet all conditions. */
export async function isSearchable(
  db: Db,
  scope: FileScope,
  conditions: readonly TagCondition[],
  fileId: string,
): Promise<boolean> {
  const found = searchableFiles(db, scope, conditions).where('files.id', '=', fileId)
  return (await found.executeTakeFirst()) !== undefined
}

/** The keys of all files, to be joined with rows that refer to a file in `file_id`. */
export function fileKeys(executor: Db | Tx) {
  return executor.selectFrom('files').select(['files.id as file_id', 'files.key'])
}

/**
 * The indexing options of each generation, to be joined by `file_id` and `generation`;
 * `toIndexingConfiguration` parses the column.
 */
export function indexingRequests(executor: Db | Tx) {
  return executor
    .selectFrom('file_contents')
    .select(['file_contents.file_id', 'file_contents.generation', 'file_contents.indexing'])
}

/** Ids and keys of the files of a bot after an id, in the order of their ids. */
export async function listFileKeys(
  db: Db,
  botId: string,
  page: { after: string; limit: number },
): Promise<Pick<FileRow, 'id' | 'key'>[]> {
  return await db
    .selectFrom('files')
    .select(['id', 'key'])
    .where('bot_id', '=', botId)
    .where('id', '>', page.after)
    .orderBy('id')
    .limit(page.limit)
    .execute()
}

const selectByIds = prepared<{ botId: string; ids: string }>()((db, p, dialect) =>
  db
    .selectFrom(dialect.jsonTexts(p('ids')))
    .crossJoin('files')
    .selectAll('files')
    .where('files.bot_id', '=', p('botId'))
    .whereRef('files.id', '=', 'given.value'),
)

/** The existing files of a bot among some ids, each listed once, in no particular order. */
export async function listFilesByIds(
  db: Db,
  botId: string,
  ids: readonly string[],
): Promise<FileRow[]> {
  if (ids.length === 0) return []
  return await selectByIds(db, { botId, ids: JSON.stringify(ids) })
}

/** The files of a bot with some keys, in any key space. */
export async function listFilesByKeys(
  db: Db,
  botId: string,
  keys: readonly string[],
): Promise<Pick<FileRow, 'id' | 'key' | 'key_space'>[]> {
  if (keys.length === 0) return []
  return await db
    .selectFrom('files')
    .select(['id', 'key', 'key_space'])
    .where('bot_id', '=', botId)
    .where('key', 'in', keys)
    .execute()
}

/** A file whose passages are found, and their content. */
export interface SearchableFile {
  id: string
  key: string
  /** Generation of the passages. */
  generation: number
  /** Hex, of the content; null if it is not known. */
  sha256: string | null
}

/** Files of a bot whose passages are found, after an id, in the order of their ids. */
export async function listSearchableFiles(
  db: Db,
  scope: FileScope,
  page: { after: string; limit: number },
): Promise<SearchableFile[]> {
  const rows = await db
    .selectFrom(searchableFiles(db, scope, []).select('files.key').as('found'))
    .leftJoin('file_contents', (join) =>
      join
        .onRef('file_contents.file_id', '=', 'found.file_id')
        .onRef('file_contents.generation', '=', 'found.generation'),
    )
    .select(['found.file_id as id', 'found.key', 'found.generation', 'file_contents.sha256'])
    .where('found.file_id', '>', page.after)
    .orderBy('found.file_id')
    .limit(page.limit)
    .execute()
  // The condition of searchable files is that there is a generation.
  return rows.map(({ generation, ...file }) => ({ ...file, generation: generation ?? 0 }))
}
