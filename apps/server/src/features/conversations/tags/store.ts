import { createHash } from 'node:crypto'
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Tags } from '../../../domain/tags.js'
import { dialectOf } from '../../../platform/db/dialect.js'
import type { Page, PageRequest } from '../../../platform/db/paginate.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { TagIndexTable } from './table.js'

export type TagKind = TagIndexTable['kind']

/** An object with tags. */
export interface TaggedObject {
  botId: string
  kind: TagKind
  id: string
}

/** The tags that identify the object of a get-or-create. */
export interface TagMatch {
  /** Tags as stored, all of which must match. */
  tags: [name: string, value: string][]
  /** Whether the object must have no other tags that the caller sees. */
  exact: boolean
  /** Prefix of the names that the caller sees; undefined for a bot, which sees all. */
  prefix: string | undefined
}

/** Updates the index to the current tags of the object; unchanged tags are not written. */
export async function replaceTags(
  tx: Tx,
  object: TaggedObject,
  before: Tags,
  after: Tags,
): Promise<void> {
  const gone = Object.keys(before).filter((name) => before[name] !== after[name])
  if (gone.length > 0) {
    await tx
      .deleteFrom('tag_index')
      .where('object_id', '=', object.id)
      .where('name', 'in', gone)
      .execute()
  }
  const fresh = Object.entries(after).filter(([name, value]) => before[name] !== value)
  if (fresh.length === 0) return
  await tx
    .insertInto('tag_index')
    .values(
      fresh.map(([name, value]) => ({
        object_id: object.id,
        name,
        bot_id: object.botId,
        kind: object.kind,
        value,
        value_hash: hashOf(value),
      })),
    )
    .execute()
}

export async function deleteTags(tx: Tx, botId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx
    .deleteFrom('tag_index')
    .where('object_id', 'in', ids)
    .where('bot_id', '=', botId)
    .execute()
}

/** @returns how many were deleted, at most `limit` */
export async function deleteSomeTags(tx: Tx, botId: string, limit: number): Promise<number> {
  const result = await tx
    .deleteFrom('tag_index')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('object_id', 'name'),
        'in',
        selectFrom('tag_index')
          .select(['object_id', 'name'])
          .where('bot_id', '=', botId)
          .limit(limit)
          .$asTuple('object_id', 'name'),
      ),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

/**
 * The objects that have the first of several tags, for a join, so that few rows are read. {@link
 * carriesAll} checks the other tags.
 */
export function objectsWithTag(
  executor: Db | Tx,
  botId: string,
  kind: TagKind,
  [name, value]: readonly [string, string],
) {
  return executor
    .selectFrom('tag_index')
    .select('object_id')
    .where('bot_id', '=', botId)
    .where('kind', '=', kind)
    .where('name', '=', name)
    .where('value_hash', '=', hashOf(value))
    .as('tagged')
}

/** Ids of objects of several bots that have a tag, at most `limit`. */
export async function listObjectsWithTag(
  db: Db,
  botIds: readonly string[],
  kind: TagKind,
  [name, value]: readonly [string, string],
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom(dialectOf(db).jsonTexts(sql`${JSON.stringify(botIds)}`))
    .crossJoin('tag_index')
    .whereRef('tag_index.bot_id', '=', 'given.value')
    .where('tag_index.kind', '=', kind)
    .where('tag_index.name', '=', name)
    .where('tag_index.value_hash', '=', hashOf(value))
    .select('tag_index.object_id')
    .limit(limit)
    .execute()
  return rows.map(({ object_id: id }) => id)
}

/** Whether an object has all of these tags. */
export function carriesAll(
  objectId: Expression<string>,
  tags: readonly (readonly [string, string])[],
): RawBuilder<SqlBool> {
  const conditions = tags.map(
    ([name, value]) =>
      sql<SqlBool>`exists (select 1 from tag_index as other where other.object_id = ${objectId} and other.name = ${name} and other.value_hash = ${hashOf(value)})`,
  )
  return conditions.length === 0 ? sql`1 = 1` : sql`(${sql.join(conditions, sql` and `)})`
}

/** Whether an object has no other tags that the caller of a get-or-create sees. */
export function carriesNoMore(
  objectId: Expression<string>,
  { exact, prefix, tags }: TagMatch,
): RawBuilder<SqlBool> {
  if (!exact) return sql`1 = 1`
  const visible =
    prefix === undefined
      ? sql``
      : // The character behind the colon ends the range of names with this prefix.
        sql`and own.name >= ${prefix} and own.name < ${`${prefix.slice(0, -1)};`}`
  return sql`(select count(*) from tag_index as own where own.object_id = ${objectId} ${visible}) = ${sql.lit(tags.length)}`
}

/** The values that a tag has on objects of a kind, each once. Sorted by what {@link hashOf} makes. */
export async function pageTagValues(
  db: Db,
  botId: string,
  kind: TagKind,
  name: string,
  page: PageRequest<'id'>,
): Promise<Page<{ id: string; value: string }>> {
  let query = db
    .selectFrom('tag_index')
    .select(({ fn }) => ['value_hash as id', fn.min('value').as('value')])
    .where('bot_id', '=', botId)
    .where('kind', '=', kind)
    .where('name', '=', name)
    .groupBy('value_hash')
    .orderBy('value_hash')
    .limit(page.size + 1)
  if (page.after) query = query.where('value_hash', '>', page.after.id)
  const rows = await query.execute()
  const more = rows.length > page.size
  if (more) rows.pop()
  const last = rows.at(-1)
  return {
    rows,
    nextToken: more && last ? page.tokenAfter({ value: last.id, id: last.id }) : undefined,
  }
}

function hashOf(value: string): string {
  return createHash('sha256').update(value).digest('base64url')
}
