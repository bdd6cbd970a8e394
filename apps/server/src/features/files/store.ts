import {
  type ExpressionBuilder,
  type Insertable,
  type RawBuilder,
  sql,
  type Updateable,
} from 'kysely'
import { dialectOf } from '../../platform/db/dialect.js'
import { type Page, type PageRequest, paginate } from '../../platform/db/paginate.js'
import { prepared, preparedPatch } from '../../platform/db/prepared.js'
import type { Db, Schema, Tx } from '../../platform/db/schema.js'
import type { IndexFile } from './jobs.js'
import { type FileScope, isVisible, matchesTags, type TagCondition } from './lookup/index.js'
import type { FileRow, FileStatus, FilesTable } from './table.js'

/** The columns by which a list of files can be sorted. */
export type FileSort = 'key' | 'size' | 'created_at' | 'updated_at' | 'status'

/** Filter of a list of files; undefined members match anything. */
export interface FileFilter {
  tags: readonly TagCondition[]
  /** Only these; undefined for any. */
  ids: readonly string[] | undefined
  indexed: boolean | undefined
  /** Beginning of the keys. */
  prefix: string | undefined
  /** Part of the keys, regardless of case. */
  text: string | undefined
  statuses: readonly FileStatus[] | undefined
}

export async function insertFile(tx: Tx, row: Insertable<FilesTable>): Promise<void> {
  await tx.insertInto('files').values(row).execute()
}

function prepareFind(isIntegration: boolean) {
  return prepared<{ idOrKey: string; botId: string; integrationId: string; now: string }>()(
    (db, p) =>
      db
        .selectFrom('files')
        .selectAll()
        .where((eb) =>
          isVisible(eb, {
            botId: p('botId'),
            integrationId: isIntegration ? p('integrationId') : undefined,
            now: p('now'),
          }),
        )
        .where((eb) => eb.or([eb('id', '=', p('idOrKey')), eb('key', '=', p('idOrKey'))]))
        .orderBy('created_at')
        .orderBy('id'),
  )
}

const selectForBot = prepareFind(false)
const selectForIntegration = prepareFind(true)

/** The file that an id or a key refers to: ids precede keys, and the caller's own keys precede those of others. */
export async function findFile(
  executor: Db | Tx,
  scope: FileScope,
  idOrKey: string,
): Promise<FileRow | undefined> {
  const { botId, integrationId = '', now } = scope
  const select = scope.integrationId === undefined ? selectForBot : selectForIntegration
  return pickReferred(
    await select(executor, { idOrKey, botId, integrationId, now }),
    scope,
    idOrKey,
  )
}

function pickReferred<Row extends Pick<FileRow, 'id' | 'key_space'>>(
  rows: readonly Row[],
  { integrationId = '' }: FileScope,
  idOrKey: string,
): Row | undefined {
  return (
    rows.find(({ id }) => id === idOrKey) ??
    rows.find(({ key_space }) => key_space === integrationId) ??
    rows[0]
  )
}

/** A file with its last reading, as both were at one moment. */
export interface ReadFileRow extends FileRow {
  /** JSON of `Reading`; null if there is none. */
  reading: string | null
  /** The generation that was read. */
  reading_generation: number | null
}

function selectRead(db: Db) {
  return db
    .selectFrom('files')
    .leftJoin('file_readings', 'file_readings.file_id', 'files.id')
    .selectAll('files')
    .select(['file_readings.reading', 'file_readings.generation as reading_generation'])
}

/** As {@link findFile}, with the last reading. */
export async function findReadFile(
  db: Db,
  scope: FileScope,
  idOrKey: string,
): Promise<ReadFileRow | undefined> {
  const rows = await selectRead(db)
    .where((eb) => isVisible(eb, scope))
    .where((eb) => eb.or([eb('files.id', '=', idOrKey), eb('files.key', '=', idOrKey)]))
    .orderBy('files.created_at')
    .orderBy('files.id')
    .execute()
  return pickReferred(rows, scope, idOrKey)
}

/** As {@link findFileById}, with the last reading. */
export async function findReadFileById(
  db: Db,
  botId: string,
  id: string,
): Promise<ReadFileRow | undefined> {
  return await selectRead(db)
    .where('files.bot_id', '=', botId)
    .where('files.id', '=', id)
    .executeTakeFirst()
}

const selectAddressed = prepared<{ id: string }>()((db, p) =>
  db.selectFrom('files').selectAll().where('id', '=', p('id')),
)

/** A file by its id alone, for addresses that carry their own permission; the row contains its bot. */
export async function findAddressedFile(db: Db, id: string): Promise<FileRow | undefined> {
  return await selectAddressed.first(db, { id })
}

const selectFile = prepared<{ botId: string; id: string }>()((db, p) =>
  db.selectFrom('files').selectAll().where('bot_id', '=', p('botId')).where('id', '=', p('id')),
)

/** A file of a bot, expired or not, regardless of visibility. */
export async function findFileById(
  executor: Db | Tx,
  botId: string,
  id: string,
): Promise<FileRow | undefined> {
  return await selectFile.first(executor, { botId, id })
}

const selectFileLocked = prepared<{ botId: string; id: string }>()((db, p, dialect) =>
  dialect.lockRows(
    db.selectFrom('files').selectAll().where('bot_id', '=', p('botId')).where('id', '=', p('id')),
  ),
)

/** Like `findFileById`, locked for the rest of the transaction. */
export async function lockFile(tx: Tx, botId: string, id: string): Promise<FileRow | undefined> {
  return await selectFileLocked.first(tx, { botId, id })
}

/** Locks a file and the file under the key of its copy in the order of their ids, as the opposite copy does. */
export async function lockForCopy(
  tx: Tx,
  id: string,
  copy: Pick<FileRow, 'bot_id' | 'key_space' | 'key'>,
): Promise<void> {
  const query = tx
    .selectFrom('files')
    .select('id')
    .where((eb) => eb.or([eb('id', '=', id), eb.and(copy)]))
    .orderBy('id')
  await dialectOf(tx).lockRows(query).execute()
}

const selectByKeyLocked = prepared<{ botId: string; keySpace: string; key: string }>()(
  (db, p, dialect) =>
    dialect.lockRows(
      db
        .selectFrom('files')
        .selectAll()
        .where('bot_id', '=', p('botId'))
        .where('key', '=', p('key'))
        .where('key_space', '=', p('keySpace')),
    ),
)

/** The file under a key, expired or not, locked. */
export async function lockFileByKey(
  tx: Tx,
  botId: string,
  keySpace: string,
  key: string,
): Promise<FileRow | undefined> {
  return await selectByKeyLocked.first(tx, { botId, keySpace, key })
}

export async function pageFiles(
  db: Db,
  scope: FileScope,
  filter: FileFilter,
  page: PageRequest<FileSort>,
): Promise<Page<FileRow>> {
  const query = db
    .selectFrom('files')
    .selectAll()
    .where((eb) => isVisible(eb, scope))
    .where((eb) => matchesTags(eb, scope.botId, filter.tags))
    .$if(filter.ids !== undefined, (ids) => ids.where('id', 'in', filter.ids ?? []))
    .$if(filter.indexed !== undefined, (indexed) =>
      indexed.where('indexed', '=', filter.indexed ? 1 : 0),
    )
    .$if(filter.prefix !== undefined, (among) =>
      among.where((eb) => beginsWith(eb, filter.prefix ?? '')),
    )
    .$if(filter.text !== undefined, (among) =>
      among.where(({ ref }) => dialectOf(db).contains(ref('key'), filter.text ?? '')),
    )
    .$if(filter.statuses !== undefined, (among) =>
      among.where('status', 'in', filter.statuses ?? []),
    )
  return await paginate(query, page)
}

/** The last character: it follows every text that begins alike, in the order of bytes. */
const afterAll = String.fromCodePoint(0x10ffff)

/** Whether a key begins with a text, as a range of the index of keys. */
function beginsWith(eb: ExpressionBuilder<Schema, 'files'>, prefix: string) {
  return eb.and([eb('files.key', '>=', prefix), eb('files.key', '<', prefix + afterAll)])
}

/** A folder, and the number of files with keys that begin with it. */
export interface Folder {
  prefix: string
  files: number
}

/** The folders directly below a prefix, in the order of the bytes of their names. */
export async function pageFolders(
  db: Db,
  scope: FileScope,
  prefix: string,
  page: PageRequest<'prefix'>,
): Promise<Page<Folder>> {
  const rest = sql<string>`substr(files.key, ${sql.lit([...prefix].length + 1)})`
  const position = dialectOf(db).positionOf(rest, '/')
  const rows = await db
    .selectFrom((eb) =>
      eb
        .selectFrom('files')
        .select(sql<string>`substr(${rest}, 1, ${position})`.as('name'))
        .where((where) => isVisible(where, scope))
        .where((where) => beginsWith(where, prefix))
        .$if(page.after !== undefined, (below) =>
          // Past all files of the folder at which the page before ended.
          below.where('files.key', '>', `${page.after?.value}${afterAll}`),
        )
        .where(position, '>', 0)
        .as('below'),
    )
    .select(['name', ({ fn }) => fn.countAll<string>().as('files')])
    .groupBy('name')
    .orderBy('name')
    .limit(page.size + 1)
    .execute()
  const folders = rows
    .slice(0, page.size)
    .map(({ name, files }) => ({ prefix: prefix + name, files: Number(files) }))
  const last = folders.at(-1)
  const more = rows.length > folders.length && last !== undefined
  const nextToken = more ? page.tokenAfter({ value: last.prefix, id: '' }) : undefined
  return { rows: folders, nextToken }
}

const updateFile = preparedPatch('files', ['bot_id', 'id'])

export async function patchFile(
  tx: Tx,
  botId: string,
  id: string,
  patch: Updateable<FilesTable>,
): Promise<void> {
  await updateFile(tx, { bot_id: botId, id }, patch)
}

/** Stores the progress of indexing of a generation, unless it has ended or restarted in the meantime. */
export async function storeProgress(tx: Tx, of: IndexFile, progress: string): Promise<void> {
  await tx
    .updateTable('files')
    .set({ progress })
    .where('bot_id', '=', of.botId)
    .where('id', '=', of.fileId)
    .where('generation', '=', of.generation)
    .where('status', '=', 'indexing_pending')
    .execute()
}

/** Deletes the rows of a file and its tags; its contents are the caller's concern. */
export async function deleteFileRow(tx: Tx, botId: string, id: string): Promise<void> {
  await tx.deleteFrom('file_tags').where('bot_id', '=', botId).where('file_id', '=', id).execute()
  await tx.deleteFrom('files').where('bot_id', '=', botId).where('id', '=', id).execute()
}

/** Replaces the rows by which a file is found by its tags. */
export async function replaceTags(
  tx: Tx,
  file: Pick<FileRow, 'id' | 'bot_id'>,
  tags: Record<string, string>,
): Promise<void> {
  await tx
    .deleteFrom('file_tags')
    .where('bot_id', '=', file.bot_id)
    .where('file_id', '=', file.id)
    .execute()
  const rows = Object.entries(tags).map(([name, value]) => ({
    file_id: file.id,
    bot_id: file.bot_id,
    name,
    value,
  }))
  if (rows.length > 0) await tx.insertInto('file_tags').values(rows).execute()
}

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

/** Expired files of all bots, the earliest expired first. */
export async function listExpired(
  db: Db,
  now: string,
  limit: number,
): Promise<Pick<FileRow, 'bot_id' | 'id'>[]> {
  return await db
    .selectFrom('files')
    .select(['bot_id', 'id'])
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .execute()
}

/** The time when the next file of any bot expires; undefined when none does. */
export async function findNextExpiry(tx: Tx): Promise<string | undefined> {
  const row = await tx
    .selectFrom('files')
    .select('expires_at')
    .where('expires_at', 'is not', null)
    .orderBy('expires_at')
    .limit(1)
    .executeTakeFirst()
  return row?.expires_at ?? undefined
}

export async function listIdsOfBot(db: Db, botId: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('files')
    .select('id')
    .where('bot_id', '=', botId)
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

/** Ids of the files that exist, for joins. */
export function existingFiles(executor: Tx) {
  return executor.selectFrom('files').select('id').as('existing')
}

/** Ids of the files of a bot that were announced before an ISO 8601 time and of which nothing has arrived, for joins. */
export function unsentFiles(executor: Db, botId: string, before: string) {
  return executor
    .selectFrom('file_contents')
    .select('file_id as id')
    .where('bot_id', '=', botId)
    .where('status', '=', 'upload_pending')
    .where('created_at', '<', before)
    .where('received', 'is', null)
    .as('unsent')
}
