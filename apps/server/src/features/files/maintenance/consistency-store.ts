import { type RawBuilder, sql } from 'kysely'
import { dialectOf } from '../../../platform/db/dialect.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { ContentId } from '../contents/index.js'
import type { ContentRow, FileRow } from '../table.js'

/** A blob with its counted and its actual uses. */
export interface BlobCount {
  blobKey: string
  /** Hex, as uploaded. */
  sha256: string
  /** Bytes. */
  size: number
  /** As counted. */
  uses: number
  /** As found. */
  references: number
}

/** Bytes in use by a workspace: as counted, and as the sum over its files. */
export interface UsageCount {
  workspaceId: string
  storage: number
  vector: number
  storageFound: number
  vectorFound: number
}

/** Blobs of all bots in the order of their keys, after one of them. */
export async function listBlobCounts(db: Db, after: string, limit: number): Promise<BlobCount[]> {
  const rows = await db
    .selectFrom('file_blobs')
    .select(['blob_key as blobKey', 'sha256', 'size', 'uses'])
    .where('blob_key', '>', after)
    .orderBy('blob_key')
    .limit(limit)
    .execute()
  if (rows.length === 0) return []
  // One query for all of them: passages have no index by blob.
  const keys = rows.map(({ blobKey }) => blobKey)
  const contents = await countUses(db, 'blob_key', keys)
  const passages = await countUses(db, 'passages_blob_key', keys)
  return rows.map((row) => ({
    ...row,
    references: (contents.get(row.blobKey) ?? 0) + (passages.get(row.blobKey) ?? 0),
  }))
}

async function countUses(
  db: Db,
  column: 'blob_key' | 'passages_blob_key',
  keys: readonly string[],
): Promise<ReadonlyMap<string | null, number>> {
  const rows = await db
    .selectFrom('file_contents')
    .select(({ fn, ref }) => [ref(column).as('key'), fn.countAll<number>().as('count')])
    .where(column, 'in', keys)
    .groupBy(column)
    .execute()
  return new Map(rows.map(({ key, count }) => [key, Number(count)]))
}

/** The counts of one blob, locked for the rest of the transaction. */
export async function lockBlobCount(tx: Tx, blobKey: string): Promise<BlobCount | undefined> {
  const query = tx
    .selectFrom('file_blobs')
    .select(['blob_key as blobKey', 'sha256', 'size', 'uses'])
    .where('blob_key', '=', blobKey)
  const row = await dialectOf(tx).lockRows(query).executeTakeFirst()
  if (row === undefined) return undefined
  // Counted in a separate statement, which sees the commits that happened while this one waited for the lock.
  const { count } = await tx
    .selectFrom('file_contents')
    .select(
      sql<number>`sum(case when blob_key = ${blobKey} then 1 else 0 end
        + case when passages_blob_key = ${blobKey} then 1 else 0 end)`.as('count'),
    )
    .where((eb) => eb.or([eb('blob_key', '=', blobKey), eb('passages_blob_key', '=', blobKey)]))
    .executeTakeFirstOrThrow()
  return { ...row, references: Number(count ?? 0) }
}

export async function setBlobUses(tx: Tx, blobKey: string, uses: number): Promise<void> {
  await tx.updateTable('file_blobs').set({ uses }).where('blob_key', '=', blobKey).execute()
}

/** The usage of every workspace. */
export async function listUsageCounts(db: Db): Promise<UsageCount[]> {
  const { rows } = await sql<UsageCount>`
    select
      coalesce(used.workspace_id, found.workspace_id) as "workspaceId",
      coalesce(used.storage_bytes, 0) as "storage",
      coalesce(used.vector_bytes, 0) as "vector",
      coalesce(found.storage, 0) as "storageFound",
      coalesce(found.vector, 0) as "vectorFound"
    from (
      select workspace_id from file_usage union select workspace_id from files
    ) as places
    left join file_usage as used on used.workspace_id = places.workspace_id
    left join (
      select workspace_id, sum(counted_storage) as storage, sum(counted_vector) as vector
      from files group by workspace_id
    ) as found on found.workspace_id = places.workspace_id
  `.execute(db)
  return rows.map((row) => ({
    workspaceId: row.workspaceId,
    storage: Number(row.storage),
    vector: Number(row.vector),
    storageFound: Number(row.storageFound),
    vectorFound: Number(row.vectorFound),
  }))
}

interface BotUsageCount extends Omit<UsageCount, 'workspaceId'> {
  botId: string
  /** Files of which something is indexed, as counted and as found. */
  indexedFiles: number
  indexedFilesFound: number
}

/** Bots whose usage is not that of their files: of all, or of the given one. */
export async function listWrongBotUsage(
  executor: Db | Tx,
  botId?: string,
): Promise<BotUsageCount[]> {
  const of = botId === undefined ? sql`` : sql`where bot_id = ${botId}`
  const { rows } = await sql<BotUsageCount>`
    select
      places.bot_id as "botId",
      coalesce(used.storage_bytes, 0) as "storage",
      coalesce(used.vector_bytes, 0) as "vector",
      coalesce(found.storage, 0) as "storageFound",
      coalesce(found.vector, 0) as "vectorFound",
      coalesce(used.indexed_files, 0) as "indexedFiles",
      coalesce(found.indexed, 0) as "indexedFilesFound"
    from (
      select bot_id from bot_file_usage ${of} union select bot_id from files ${of}
    ) as places
    left join bot_file_usage as used on used.bot_id = places.bot_id
    left join (${countedFiles(of)}) as found on found.bot_id = places.bot_id
    where coalesce(used.storage_bytes, 0) <> coalesce(found.storage, 0)
      or coalesce(used.vector_bytes, 0) <> coalesce(found.vector, 0)
      or coalesce(used.indexed_files, 0) <> coalesce(found.indexed, 0)
  `.execute(executor)
  return rows
}

/** Counts the files of a bot again. */
export async function recountBotUsage(tx: Tx, botId: string): Promise<void> {
  await tx.deleteFrom('bot_file_usage').where('bot_id', '=', botId).execute()
  await sql`
    insert into bot_file_usage (bot_id, storage_bytes, vector_bytes, indexed_files)
    ${countedFiles(sql`where bot_id = ${botId}`)}`.execute(tx)
}

function countedFiles(of: RawBuilder<unknown>) {
  return sql`
    select
      bot_id,
      sum(counted_storage) as storage,
      sum(counted_vector) as vector,
      sum(case when counted_vector > 0 then 1 else 0 end) as indexed
    from files ${of} group by bot_id`
}

/** The workspace in which the files of a bot are counted; undefined if it has none. */
export async function findWorkspaceOfFiles(tx: Tx, botId: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom('files')
    .select('workspace_id')
    .where('bot_id', '=', botId)
    .limit(1)
    .executeTakeFirst()
  return row?.workspace_id
}

/** The usage of one workspace, locked for the rest of the transaction. */
export async function lockUsageCount(tx: Tx, workspaceId: string): Promise<UsageCount> {
  await tx
    .insertInto('file_usage')
    .values({ workspace_id: workspaceId, storage_bytes: 0, vector_bytes: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const query = tx
    .selectFrom('file_usage')
    .select(['storage_bytes', 'vector_bytes'])
    .where('workspace_id', '=', workspaceId)
  const used = await dialectOf(tx).lockRows(query).executeTakeFirstOrThrow()
  const found = await tx
    .selectFrom('files')
    .select(({ fn }) => [
      fn.sum<number>('counted_storage').as('storage'),
      fn.sum<number>('counted_vector').as('vector'),
    ])
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  return {
    workspaceId,
    storage: used.storage_bytes,
    vector: used.vector_bytes,
    storageFound: Number(found.storage ?? 0),
    vectorFound: Number(found.vector ?? 0),
  }
}

export async function setUsage(
  tx: Tx,
  workspaceId: string,
  usage: { storage: number; vector: number },
): Promise<void> {
  await tx
    .updateTable('file_usage')
    .set({ storage_bytes: usage.storage, vector_bytes: usage.vector })
    .where('workspace_id', '=', workspaceId)
    .execute()
}

/** Some files of all bots that use a blob, and their total number. */
export async function listFilesUsing(
  db: Db,
  blobKey: string,
  limit: number,
): Promise<{ count: number; some: { botId: string; key: string }[] }> {
  const query = db
    .selectFrom('files')
    .innerJoin('file_contents', (join) =>
      join
        .onRef('file_contents.file_id', '=', 'files.id')
        .onRef('file_contents.bot_id', '=', 'files.bot_id'),
    )
    .where((eb) =>
      eb.or([
        eb('file_contents.blob_key', '=', blobKey),
        eb('file_contents.passages_blob_key', '=', blobKey),
      ]),
    )
  const { count } = await query
    .select(({ fn }) => fn.count<number>('files.id').distinct().as('count'))
    .executeTakeFirstOrThrow()
  const some = await query
    .select(['files.bot_id as botId', 'files.key'])
    .distinct()
    .orderBy('files.bot_id')
    .orderBy('files.key')
    .limit(limit)
    .execute()
  return { count: Number(count), some }
}

/** Generations without a file, after one of them. */
export async function listContentsWithoutFile(
  db: Db,
  after: ContentId,
  limit: number,
): Promise<ContentRow[]> {
  return await db
    .selectFrom('file_contents')
    .selectAll()
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('files')
            .select('files.id')
            .whereRef('files.id', '=', 'file_contents.file_id')
            .whereRef('files.bot_id', '=', 'file_contents.bot_id'),
        ),
      ),
    )
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('file_id', 'generation'), '>', tuple(after.fileId, after.generation)),
    )
    .orderBy('file_id')
    .orderBy('generation')
    .limit(limit)
    .execute()
}

/** Files of all bots in the order of their ids, after one of them. */
export async function listFilesAfter(db: Db, after: string, limit: number): Promise<FileRow[]> {
  return await db
    .selectFrom('files')
    .selectAll()
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Generations of some files, oldest first. */
export async function listContentsOf(db: Db, fileIds: readonly string[]): Promise<ContentRow[]> {
  return await db
    .selectFrom('file_contents')
    .selectAll()
    .where('file_id', 'in', fileIds)
    .orderBy('generation')
    .execute()
}

/** The given blob keys that wait for the sweeper. */
export async function listDiscardedAmong(
  db: Db,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('discarded_blobs')
    .select('blob_key')
    .where('blob_key', 'in', keys)
    .execute()
  return new Set(rows.map(({ blob_key }) => blob_key))
}
