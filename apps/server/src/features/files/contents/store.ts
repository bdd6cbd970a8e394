import { type Insertable, sql, type Updateable } from 'kysely'
import { prepared, preparedPatch } from '../../../platform/db/prepared.js'
import type { Db, Schema, Tx } from '../../../platform/db/schema.js'
import type { ContentRow, FileContentsTable, PartRow } from '../table.js'

/** Names one generation of a file. */
export interface ContentId {
  fileId: string
  generation: number
}

export async function insertContent(tx: Tx, row: Insertable<FileContentsTable>): Promise<void> {
  await tx.insertInto('file_contents').values(row).execute()
}

const selectContent = prepared<ContentId & { botId: string }>()((db, p) =>
  db
    .selectFrom('file_contents')
    .selectAll()
    .where('bot_id', '=', p('botId'))
    .where('file_id', '=', p('fileId'))
    .where('generation', '=', p('generation')),
)

export async function findContent(
  executor: Db | Tx,
  botId: string,
  id: ContentId,
): Promise<ContentRow | undefined> {
  return await selectContent.first(executor, { botId, ...id })
}

const selectServed = prepared<{ fileId: string }>()((db, p) =>
  db
    .selectFrom('files')
    .innerJoin('file_contents as content', (join) =>
      join
        .onRef('content.bot_id', '=', 'files.bot_id')
        .onRef('content.file_id', '=', 'files.id')
        .onRef('content.generation', '=', 'files.serving_generation'),
    )
    .where('files.id', '=', p('fileId'))
    .select([
      'files.bot_id',
      'files.key',
      'files.expires_at',
      'files.public_content as public_file',
      'content.public_content',
      'content.immediate',
      'content.status',
      'content.content_type',
      'content.size',
      'content.sha256',
      'content.blob_key',
    ]),
)

/** The content of a file that a caller with its address gets. */
export type ServedContentRow = NonNullable<Awaited<ReturnType<typeof findServedContent>>>

/** The content that a file serves, found by the id of the file alone; undefined if it serves none. */
export async function findServedContent(db: Db, fileId: string) {
  return await selectServed.first(db, { fileId })
}

const selectContents = prepared<{ botId: string; fileId: string }>()((db, p) =>
  db
    .selectFrom('file_contents')
    .selectAll()
    .where('bot_id', '=', p('botId'))
    .where('file_id', '=', p('fileId'))
    .orderBy('generation'),
)

/** All generations of a file that are still needed, oldest first. */
export async function listContents(
  executor: Db | Tx,
  botId: string,
  fileId: string,
): Promise<ContentRow[]> {
  return await selectContents(executor, { botId, fileId })
}

const updateContent = preparedPatch('file_contents', ['bot_id', 'file_id', 'generation'])

export async function patchContent(
  tx: Tx,
  botId: string,
  { fileId, generation }: ContentId,
  patch: Updateable<FileContentsTable>,
): Promise<void> {
  await updateContent(tx, { bot_id: botId, file_id: fileId, generation }, patch)
}

/** Changes all generations of a file. */
export async function patchContents(
  tx: Tx,
  botId: string,
  fileId: string,
  patch: Updateable<FileContentsTable>,
): Promise<void> {
  await tx
    .updateTable('file_contents')
    .set(patch)
    .where('bot_id', '=', botId)
    .where('file_id', '=', fileId)
    .execute()
}

/** Removes generations; blobs without other uses are left to the sweeper. */
export async function discardContents(
  tx: Tx,
  botId: string,
  contents: readonly ContentRow[],
): Promise<void> {
  for (const { file_id, generation } of contents) {
    await tx
      .deleteFrom('file_contents')
      .where('bot_id', '=', botId)
      .where('file_id', '=', file_id)
      .where('generation', '=', generation)
      .execute()
  }
  const keys = contents.flatMap((row) => [row.blob_key, row.passages_blob_key]).filter(isPresent)
  // In a fixed order, so that two transactions that release the same blobs do not deadlock.
  for (const key of keys.sort()) await releaseBlob(tx, key)
}

/** Generations of all bots that were announced before a time and whose content never arrived. */
export async function listAbandoned(
  db: Db,
  before: string,
  limit: number,
): Promise<{ bot_id: string; file_id: string; generation: number }[]> {
  return await db
    .selectFrom('file_contents')
    .select(['bot_id', 'file_id', 'generation'])
    .where('status', '=', 'upload_pending')
    .where('created_at', '<', before)
    // A content that arrived completely is still to be assembled: see uploads/parts.ts.
    .where((eb) => eb.or([eb('received', 'is', null), eb('received', '<', eb.ref('size'))]))
    .limit(limit)
    .execute()
}

function isPresent(key: string | null): key is string {
  return key !== null
}

export async function insertPart(tx: Tx, row: Insertable<Schema['content_parts']>): Promise<void> {
  await tx.insertInto('content_parts').values(row).execute()
}

/** The parts of a content in their order. */
export async function listParts(
  executor: Db | Tx,
  botId: string,
  { fileId, generation }: ContentId,
): Promise<PartRow[]> {
  return await executor
    .selectFrom('content_parts')
    .selectAll()
    .where('bot_id', '=', botId)
    .where('file_id', '=', fileId)
    .where('generation', '=', generation)
    .orderBy('start')
    .execute()
}

/** Removes the parts of a content and leaves their blobs to the sweeper. */
export async function discardParts(
  tx: Tx,
  botId: string,
  { fileId, generation }: ContentId,
): Promise<void> {
  const rows = await tx
    .deleteFrom('content_parts')
    .where('bot_id', '=', botId)
    .where('file_id', '=', fileId)
    .where('generation', '=', generation)
    .returning('blob_key')
    .execute()
  for (const { blob_key } of rows) await discardBlob(tx, blob_key)
}

/** Bytes in the blob store. */
export interface StoredBytes {
  blobKey: string
  /** Hex, over all bytes. */
  sha256: string
  /** Bytes. */
  size: number
  /** A blob that is counted as having the same bytes, but that the store has lost. */
  lostBlobKey?: string
}

const countUse = prepared<Pick<StoredBytes, 'blobKey' | 'sha256' | 'size'> & { botId: string }>()(
  (db, p) =>
    db
      .insertInto('file_blobs')
      .values({
        blob_key: p('blobKey'),
        bot_id: p('botId'),
        sha256: p('sha256'),
        size: p('size'),
        uses: 1,
      })
      .onConflict((conflict) =>
        conflict.columns(['bot_id', 'sha256']).doUpdateSet({ uses: sql`file_blobs.uses + 1` }),
      )
      .returning('blob_key'),
)

/**
 * Counts a use of bytes that were just stored and returns the key of the blob that holds them: an
 * older one where the bot has the same bytes already. The new blob is then left to the sweeper,
 * unless the older one is lost: then the new one replaces it.
 */
export async function useBytes(tx: Tx, botId: string, bytes: StoredBytes): Promise<string> {
  const { blobKey, sha256, size, lostBlobKey } = bytes
  if (lostBlobKey !== undefined && (await takeOverUses(tx, lostBlobKey, blobKey))) return blobKey
  const row = await countUse.first(tx, { blobKey, botId, sha256, size })
  if (row === undefined) throw new Error(`The use of the blob ${blobKey} was not counted`)
  if (row.blob_key !== blobKey) await discardBlob(tx, blobKey)
  return row.blob_key
}

/**
 * Points all contents that use a lost blob to its replacement, and counts one more use.
 * @returns whether the lost blob was still in use
 */
async function takeOverUses(tx: Tx, lost: string, blobKey: string): Promise<boolean> {
  const moved = await tx
    .updateTable('file_blobs')
    .set(({ eb }) => ({ blob_key: blobKey, uses: eb('uses', '+', 1) }))
    .where('blob_key', '=', lost)
    .returning('blob_key')
    .executeTakeFirst()
  if (moved === undefined) return false
  for (const column of ['blob_key', 'passages_blob_key'] as const) {
    const change = { [column]: blobKey }
    await tx.updateTable('file_contents').set(change).where(column, '=', lost).execute()
  }
  // Part of it may still exist.
  await discardBlob(tx, lost)
  return true
}

/** Counts one more use of each blob; the caller has locked a file that uses them. */
export async function shareBlobs(tx: Tx, blobKeys: readonly (string | null)[]): Promise<void> {
  // In the same order as they are released.
  for (const blobKey of blobKeys.filter(isPresent).sort()) {
    const { numUpdatedRows } = await tx
      .updateTable('file_blobs')
      .set({ uses: sql`uses + 1` })
      .where('blob_key', '=', blobKey)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) throw new Error(`The blob ${blobKey} has no row`)
  }
}

/** Ends a use of a blob. With the last one, the blob is left to the sweeper. */
export async function releaseBlob(tx: Tx, blobKey: string): Promise<void> {
  const row = await tx
    .updateTable('file_blobs')
    .set({ uses: sql`uses - 1` })
    .where('blob_key', '=', blobKey)
    .returning('uses')
    .executeTakeFirst()
  if (row !== undefined && row.uses > 0) return
  await tx.deleteFrom('file_blobs').where('blob_key', '=', blobKey).execute()
  await discardBlob(tx, blobKey)
}

/** Leaves a blob that was never counted, or no longer is, to the sweeper. */
export async function discardBlob(tx: Tx, blobKey: string): Promise<void> {
  await tx
    .insertInto('discarded_blobs')
    .values({ blob_key: blobKey })
    .onConflict((conflict) => conflict.column('blob_key').doNothing())
    .execute()
}

/** The bytes of a blob that is in use. */
export async function findBlob(db: Db, blobKey: string): Promise<StoredBytes | undefined> {
  return await db
    .selectFrom('file_blobs')
    .select(['blob_key as blobKey', 'sha256', 'size'])
    .where('blob_key', '=', blobKey)
    .executeTakeFirst()
}

const selectEqualBlob = prepared<{ botId: string; sha256: string }>()((db, p) =>
  db
    .selectFrom('file_blobs')
    .select(['blob_key as blobKey', 'sha256', 'size'])
    .where('bot_id', '=', p('botId'))
    .where('sha256', '=', p('sha256')),
)

/** The blob that new bytes of a bot would share. */
export async function findEqualBlob(
  db: Db,
  botId: string,
  sha256: string,
): Promise<StoredBytes | undefined> {
  return await selectEqualBlob.first(db, { botId, sha256 })
}

/**
 * Keys of blobs without references, in order.
 * @param after the last key of the batch before
 */
export async function listDiscardedBlobs(
  db: Db,
  limit: number,
  after: string | undefined,
): Promise<string[]> {
  const rows = await db
    .selectFrom('discarded_blobs')
    .select('blob_key')
    .where('blob_key', '>', after ?? '')
    .orderBy('blob_key')
    .limit(limit)
    .execute()
  return rows.map(({ blob_key }) => blob_key)
}

export async function forgetDiscardedBlobs(tx: Tx, keys: readonly string[]): Promise<void> {
  await tx.deleteFrom('discarded_blobs').where('blob_key', 'in', keys).execute()
}

/** The given blob keys that are in use. */
export async function listUsedBlobs(db: Db, keys: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('file_blobs')
    .select('blob_key')
    .where('blob_key', 'in', keys)
    .union(db.selectFrom('content_parts').select('blob_key').where('blob_key', 'in', keys))
    .execute()
  return new Set(rows.map(({ blob_key }) => blob_key))
}
