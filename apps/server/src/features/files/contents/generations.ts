import type { Reading } from '@botstead/documents'
import type { Updateable } from 'kysely'
import type { BlobStore } from '../../../platform/blobs/blob-store.js'
import { bound } from '../../../platform/bound.js'
import { type Clock, isoTime } from '../../../platform/clock.js'
import type { Db, Tx } from '../../../platform/db/schema.js'
import type { Queue } from '../../../platform/jobs/queue.js'
import type { Quotas } from '../dependencies.js'
import type { FileEvents } from '../file-events.js'
import {
  type PassagesOf,
  requestBlobSweep,
  requestIndexing,
  requestPassageClearing,
} from '../jobs.js'
import { deleteFileRow, patchFile } from '../store.js'
import type { ContentRow, FileContentsTable, FileRow, FileStatus, FilesTable } from '../table.js'
import { lockUsage } from '../usage-store.js'
import { replaceReading } from './readings.js'
import {
  discardContents,
  discardParts,
  findContent,
  findEqualBlob,
  listContents,
  patchContent,
  type StoredBytes,
  useBytes,
} from './store.js'
import { subtractUsage, updateUsage } from './usage.js'

interface GenerationsDeps {
  clock: Clock
  queue: Queue
  events: Pick<FileEvents, 'append'>
  quotas: Quotas
}

/** Bytes that are in use, and their passages. */
interface ContentSource extends Pick<StoredBytes, 'blobKey' | 'sha256'> {
  passages?: PassagesOf | undefined
  /** Passages from a caller instead of those of the bytes. */
  passagesBlobKey?: string | null
}

/** Columns that change together with a status. */
interface Changes {
  ofContent?: Updateable<FileContentsTable> | undefined
  ofFile?: Updateable<FilesTable> | undefined
}

interface Move extends Changes {
  status: FileStatus
  failedReason?: string | null
}

interface Outcome extends Changes {
  passagesGeneration: number | null
  failedReason?: string | undefined
  /** The column of the file. */
  omissions: number | null
  /** Omissions of this content, as the event of the file reports them; undefined if they are not known. */
  announced: number | undefined
}

/** The result of indexing a content. */
export interface IndexingOutcome {
  /** The reason for having no passages; undefined if there are some. */
  failedReason?: string | undefined
  /** The omissions; undefined if they are not known. */
  reading?: Reading | undefined
}

export type Generations = ReturnType<typeof createGenerations>

/**
 * The states of a file. Every upsert begins a generation with the status `upload_pending`:
 *
 *     upload_pending → upload_failed | upload_completed | indexing_pending
 *     indexing_pending → indexing_completed | indexing_failed
 *
 * The file has the status of its latest generation. Content and passages of the previous one are
 * served until the new one is complete; then both are swapped in one transaction. All
 * functions expect the file to be locked by the transaction. They lock the usage of the workspace next: after
 * that, one transaction at a time locks blobs and the log of events, so these locks cannot deadlock.
 */
export function createGenerations(deps: GenerationsDeps) {
  return bound(deps, {
    discard: discardGenerations,
    begin: beginGeneration,
    complete: completeContent,
    completeUpload,
    describe: logDescription,
    failUpload,
    finishIndexing,
    remove: removeFile,
  })
}

/** Removes generations with everything that belongs to them alone. */
async function discardGenerations(
  deps: GenerationsDeps,
  tx: Tx,
  botId: string,
  contents: readonly ContentRow[],
): Promise<void> {
  await discardContents(tx, botId, contents)
  for (const content of contents) await dropParts(deps, tx, content)
  if (contents.some(({ blob_key }) => blob_key !== null)) requestBlobSweep(deps.queue, tx)
}

/** Removes the parts of a content when they are no longer needed. */
async function dropParts({ queue }: GenerationsDeps, tx: Tx, content: ContentRow): Promise<void> {
  if (content.received === null) return
  await discardParts(tx, content.bot_id, idOf(content))
  requestBlobSweep(queue, tx)
}

/** Changes the status and other columns of a generation, and those of the file if the generation is the latest. */
async function moveTo(
  { clock }: GenerationsDeps,
  tx: Tx,
  file: FileRow,
  content: ContentRow,
  { status, failedReason = null, ofContent, ofFile }: Move,
): Promise<void> {
  await patchContent(tx, file.bot_id, idOf(content), { ...ofContent, status })
  const isLatest = content.generation === file.generation
  if (!isLatest && ofFile === undefined) return
  await patchFile(tx, file.bot_id, file.id, {
    ...ofFile,
    ...(isLatest && {
      status,
      failed_reason: failedReason,
      updated_at: isoTime(clock.now()),
    }),
  })
}

/** Removes the generations before the one that is served from now on. */
async function removePrevious(
  deps: GenerationsDeps,
  tx: Tx,
  file: FileRow,
  content: ContentRow,
  passagesGeneration: number | null,
): Promise<void> {
  const contents = await listContents(tx, file.bot_id, file.id)
  await discardGenerations(
    deps,
    tx,
    file.bot_id,
    contents.filter(({ generation }) => generation < content.generation),
  )
  // Only a previous or incomplete generation leaves passages behind.
  const failed = content.indexed === 1 && passagesGeneration === null
  if (content.generation > 1 || failed) await requestPassageClearing(deps.queue, tx, file)
}

/** Completes a content whose blobs already count this use. */
async function completeContent(
  deps: GenerationsDeps,
  tx: Tx,
  file: FileRow,
  content: ContentRow,
  { blobKey, sha256, passages, passagesBlobKey = null }: ContentSource,
): Promise<void> {
  const { quotas, events, queue } = deps
  await lockUsage(tx, file.workspace_id)
  await dropParts(deps, tx, content)
  const ofContent = {
    blob_key: blobKey,
    sha256,
    passages_blob_key: passagesBlobKey,
    received: null,
  }
  const ofFile = { size: content.size, sha256 }
  if (content.indexed === 0) {
    await moveTo(deps, tx, file, content, {
      status: 'upload_completed',
      ofContent,
      ofFile: {
        ...ofFile,
        ...serving(content, null),
        omissions: await replaceReading(tx, file, content.generation, undefined),
      },
    })
    await removePrevious(deps, tx, file, content, null)
    await updateUsage(tx, file, quotas)
    await events.append(tx, 'file_upload_completed', file, content.generation)
  } else if (await hasPassages(tx, file, { ...content, ...ofContent })) {
    await events.append(tx, 'file_upload_completed', file, content.generation)
    await finishGeneration(deps, tx, file, content, {
      passagesGeneration: file.passages_generation,
      omissions: file.omissions,
      announced: file.omissions ?? undefined,
      ofContent,
      ofFile,
    })
  } else {
    // Without a previous content there is nothing to wait for, and a public one may be needed at once.
    const isServed = file.serving_generation === null || content.immediate === 1
    await moveTo(deps, tx, file, content, {
      status: 'indexing_pending',
      ofContent,
      ofFile: { ...ofFile, ...(isServed && { serving_generation: content.generation }) },
    })
    await requestIndexing(queue, tx, file, content, passages)
    await events.append(tx, 'file_upload_completed', file, content.generation)
  }
}

/** Whether the passages of the served content equal those that this one would get. */
async function hasPassages(tx: Tx, file: FileRow, content: ContentRow): Promise<boolean> {
  if (file.passages_generation === null || file.serving_generation === null) return false
  const served = await findContent(tx, file.bot_id, {
    fileId: file.id,
    generation: file.serving_generation,
  })
  return served?.status === 'indexing_completed' && hasSamePassages(served, content)
}

async function finishGeneration(
  deps: GenerationsDeps,
  tx: Tx,
  file: FileRow,
  content: ContentRow,
  { passagesGeneration, failedReason, omissions, announced, ofContent, ofFile }: Outcome,
): Promise<void> {
  const { quotas, events } = deps
  await lockUsage(tx, file.workspace_id)
  const failed = failedReason !== undefined
  await moveTo(deps, tx, file, content, {
    status: failed ? 'indexing_failed' : 'indexing_completed',
    failedReason: failedReason ?? null,
    ofContent,
    ofFile: { ...ofFile, ...serving(content, passagesGeneration), omissions },
  })
  await removePrevious(deps, tx, file, content, passagesGeneration)
  await updateUsage(tx, file, quotas)
  const event = failed ? 'file_indexing_failed' : 'file_indexing_completed'
  await events.append(tx, event, file, content.generation, announced)
}

/** Begins a generation: uploads to the previous one are refused from now on. */
async function beginGeneration(deps: GenerationsDeps, tx: Tx, file: FileRow): Promise<void> {
  const { quotas, events } = deps
  await lockUsage(tx, file.workspace_id)
  const contents = await listContents(tx, file.bot_id, file.id)
  await discardGenerations(
    deps,
    tx,
    file.bot_id,
    contents.filter(
      ({ generation, status }) =>
        generation < file.generation && (status === 'upload_pending' || status === 'upload_failed'),
    ),
  )
  await updateUsage(tx, file, quotas)
  await events.append(
    tx,
    file.generation === 1 ? 'file_created' : 'file_updated',
    file,
    file.generation,
  )
}

/**
 * Completes an upload. Bytes that the bot already has are stored once, and identical
 * passages are not made again.
 */
async function completeUpload(
  deps: GenerationsDeps,
  tx: Tx,
  file: FileRow,
  content: ContentRow,
  bytes: StoredBytes,
): Promise<void> {
  await lockUsage(tx, file.workspace_id)
  const blobKey = await useBytes(tx, file.bot_id, bytes)
  if (blobKey !== bytes.blobKey || bytes.lostBlobKey !== undefined) requestBlobSweep(deps.queue, tx)
  await completeContent(deps, tx, file, content, { blobKey, sha256: bytes.sha256 })
}

/** Logs that the description of the file has changed, but not its content. */
async function logDescription({ events }: GenerationsDeps, tx: Tx, file: FileRow): Promise<void> {
  await events.append(tx, 'file_updated', file, file.generation)
}

/** Fails a generation; a previous content stays. */
async function failUpload(
  deps: GenerationsDeps,
  tx: Tx,
  file: FileRow,
  content: ContentRow,
  reason: string,
): Promise<void> {
  const { quotas, events } = deps
  await lockUsage(tx, file.workspace_id)
  await dropParts(deps, tx, content)
  await moveTo(deps, tx, file, content, { status: 'upload_failed', failedReason: reason })
  await updateUsage(tx, file, quotas)
  await events.append(tx, 'file_upload_failed', file, content.generation)
}

/** Completes indexing: either the passages exist, or there is a reason for having none. */
async function finishIndexing(
  deps: GenerationsDeps,
  tx: Tx,
  file: FileRow,
  content: ContentRow,
  { failedReason, reading }: IndexingOutcome,
): Promise<void> {
  const formerPassages = content.remade ? file.passages_generation : null
  const passagesGeneration = failedReason === undefined ? content.generation : formerPassages
  // Passages that stay keep their known omissions, unless a new reading has listed others.
  const staysKnown = reading === undefined && failedReason !== undefined && formerPassages !== null
  const omissions = staysKnown
    ? file.omissions
    : await replaceReading(tx, file, content.generation, reading)
  // A failed attempt counts no omissions, so its event does not repeat the former count.
  const announced = staysKnown ? undefined : (omissions ?? undefined)
  await finishGeneration(deps, tx, file, content, {
    passagesGeneration,
    failedReason,
    omissions,
    announced,
  })
}

/** Hides a file at once; the sweeper removes the rest. */
async function removeFile(deps: GenerationsDeps, tx: Tx, file: FileRow): Promise<void> {
  const { queue, events } = deps
  await lockUsage(tx, file.workspace_id)
  await discardGenerations(deps, tx, file.bot_id, await listContents(tx, file.bot_id, file.id))
  await subtractUsage(tx, file)
  await replaceReading(tx, file, file.generation, undefined)
  await deleteFileRow(tx, file.bot_id, file.id)
  await requestPassageClearing(queue, tx, file)
  await events.append(tx, 'file_deleted', file, file.generation)
}

function idOf({ file_id: fileId, generation }: ContentRow) {
  return { fileId, generation }
}

/** Makes a file serve a generation instead of the previous one. */
function serving(content: ContentRow, passagesGeneration: number | null): Updateable<FilesTable> {
  return {
    serving_generation: content.generation,
    passages_generation: passagesGeneration,
    passages_shared: passagesGeneration !== null && content.shared === 1 ? 1 : 0,
  }
}

/** Whether two contents result in the same passages: equal bytes and the same configuration. */
function hasSamePassages(one: ContentRow, other: ContentRow): boolean {
  return (
    one.sha256 === other.sha256 &&
    one.content_type === other.content_type &&
    one.passages_blob_key === other.passages_blob_key &&
    one.indexing === other.indexing
  )
}

/**
 * Decides whether an equal blob is reused for new bytes or replaced by them: the store may have lost it,
 * for example because of a disk failure.
 * @param bytes that were just stored
 * @returns the same for `useBytes`, with the blob to replace if there is one
 */
export async function reuseOrReplaceBlob(
  { db, blobs }: { db: Db; blobs: Pick<BlobStore, 'head'> },
  botId: string,
  bytes: StoredBytes,
): Promise<StoredBytes> {
  const equal = await findEqualBlob(db, botId, bytes.sha256)
  if (equal === undefined) return bytes
  const facts = await blobs.head(equal.blobKey)
  return facts?.size === bytes.size ? bytes : { ...bytes, lostBlobKey: equal.blobKey }
}
