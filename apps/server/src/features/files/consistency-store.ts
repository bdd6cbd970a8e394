import { sql } from 'kysely'
import { dialectOf } from '../../platform/db/dialect.js'
import type { Db, Tx } from '../../schema.js'

/** A blob by what is counted, and by what refers to it. */
export interface BlobCount {
  blobKey: string
  /** Bytes. */
  size: number
  /** As counted. */
  uses: number
  /** As found. */
  references: number
}

/** Bytes that a workspace has in use: as counted for it, and as the sum over its files. */
export interface UsageCount {
  workspaceId: string
  storage: number
  vector: number
  storageFound: number
  vectorFound: number
}

/** Blobs of all bots in the order of their keys, behind one of them. */
export async function listBlobCounts(db: Db, after: string, limit: number): Promise<BlobCount[]> {
  const rows = await db
    .selectFrom('file_blobs')
    .select(['blob_key as blobKey', 'size', 'uses'])
    .select((eb) => [
      eb
        .selectFrom('file_contents')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('file_contents.blob_key', '=', 'file_blobs.blob_key')
        .as('asContent'),
      eb
        .selectFrom('file_contents')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('file_contents.passages_blob_key', '=', 'file_blobs.blob_key')
        .as('asPassages'),
    ])
    .where('blob_key', '>', after)
    .orderBy('blob_key')
    .limit(limit)
    .execute()
  return rows.map(({ asContent, asPassages, ...row }) => ({
    ...row,
    references: Number(asContent) + Number(asPassages),
  }))
}

/** One blob as {@link listBlobCounts} has it, while nobody else counts it. */
export async function lockBlobCount(tx: Tx, blobKey: string): Promise<BlobCount | undefined> {
  const query = tx
    .selectFrom('file_blobs')
    .select(['blob_key as blobKey', 'size', 'uses'])
    .where('blob_key', '=', blobKey)
  const row = await dialectOf(tx).lockRows(query).executeTakeFirst()
  if (row === undefined) return undefined
  // Counted in a statement of its own: it sees what was committed while this one waited.
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

/** What every workspace has in use. */
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

/** What one workspace has in use, while nobody else counts it. */
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

/** Those of some blob keys that wait for the sweeper. */
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
