import { type RawBuilder, sql } from 'kysely'
import type { Page, PageRequest } from '../../platform/db/paginate.js'
import type { Db } from '../../platform/db/schema.js'
import { type FileScope, isVisible } from './lookup/index.js'

/** The distinct names of the tags of all files in a scope, in order. */
export async function pageTagNames(
  db: Db,
  scope: FileScope,
  page: PageRequest<'name'>,
): Promise<Page<string>> {
  const among = sql<boolean>`file_tags.bot_id = ${scope.botId}`
  return await pageDistinct(db, scope, sql.ref('file_tags.name'), among, page)
}

/** The distinct values of a tag in the files in a scope, in order. */
export async function pageTagValues(
  db: Db,
  scope: FileScope,
  name: string,
  page: PageRequest<'value'>,
): Promise<Page<string>> {
  const among = sql<boolean>`file_tags.bot_id = ${scope.botId} and file_tags.name = ${name}`
  return await pageDistinct(db, scope, sql.ref('file_tags.value'), among, page)
}

/**
 * Skips along the index from one text to the next, instead of reading every row: a bot with
 * 100,000 files has as many rows for a tag like `source`, and one value. Rows are returned as they are
 * found, so that the limit ends the scan.
 */
async function pageDistinct(
  db: Db,
  scope: FileScope,
  column: RawBuilder<unknown>,
  among: RawBuilder<boolean>,
  page: PageRequest,
): Promise<Page<string>> {
  const visible = db
    .selectFrom('files')
    .select('files.id')
    .where('files.id', '=', sql.ref<string>('file_tags.file_id'))
    .where((eb) => isVisible(eb, scope))
  const start = page.after === undefined ? sql`1 = 1` : sql`${column} > ${String(page.after.value)}`
  const { rows } = await sql<{ text: string }>`
    with recursive texts (text) as (
      select min(${column}) from file_tags where ${among} and ${start}
      union all
      select (
        select ${column} from file_tags where ${among} and ${column} > texts.text
        order by ${column} limit 1
      ) from texts where texts.text is not null
    )
    select text from texts
    where text is not null and exists (
      select 1 from file_tags
      where ${among} and ${column} = texts.text and exists ${visible}
    )
    limit ${page.size + 1}
  `.execute(db)
  const texts = rows.slice(0, page.size).map(({ text }) => text)
  const last = texts.at(-1)
  const more = rows.length > texts.length && last !== undefined
  return { rows: texts, nextToken: more ? page.tokenAfter({ value: last, id: '' }) : undefined }
}
