import type { Tx } from '../../platform/db/schema.js'
import { beforeCommit } from '../../platform/db/transaction.js'
import type { Queue } from '../../platform/jobs/queue.js'
import { countWaitingFiles } from './health-store.js'
import type { ContentRow, FileRow } from './table.js'

/*
 * The jobs of files, and those that files enqueue for search, in the transaction of the
 * change that requires them.
 */

/** Name of the job that makes a generation searchable. Handled by search. */
export const indexFileJob = 'search.index'

/** Payload of {@link indexFileJob}; its key is the file id, so that one file is indexed once at a time. */
export interface IndexFile {
  botId: string
  fileId: string
  generation: number
  /** Passages of the same content in another file, which are copied while they exist. */
  passages?: PassagesOf | undefined
}

/** The passages of one generation of a file. */
export interface PassagesOf {
  botId: string
  fileId: string
  generation: number
}

/** Name of the job that deletes passages that are no longer found. Handled by search. */
export const clearPassagesJob = 'search.clear'

/** Payload of {@link clearPassagesJob}; its key is the file id. */
export interface ClearPassages {
  botId: string
  fileId: string
  /** Key of the file, whose words may be removed with it. */
  key?: string
}

/** Name of the job that assembles the parts of a content. */
export const assembleJob = 'files.assemble'

/** Payload of {@link assembleJob}; its key is the file id. */
export interface AssembleContent {
  botId: string
  fileId: string
  generation: number
}

/** Name of the job that removes unreferenced blobs. */
export const sweepBlobsJob = 'files.sweep'

/** Name of the job that finds blobs that never got a row. */
export const sweepOrphansJob = 'files.orphans'

/** Name of the job that checks for a content that its sender uploads directly to the store. */
export const directUploadJob = 'files.direct'

/** Name of the job that deletes expired files and fails abandoned uploads. */
export const expireFilesJob = 'files.expire'

/** The transactions that have requested a sweep of blobs. */
const sweeping = new WeakSet<Tx>()

/**
 * Enqueues the removal of unreferenced blobs, when the transaction is about to commit. All bots share this job:
 * a transaction that locked it earlier would hold up those of all other bots, and could deadlock with them.
 */
export function requestBlobSweep(queue: Queue, tx: Tx): void {
  if (sweeping.has(tx)) return
  sweeping.add(tx)
  beforeCommit(tx, async () => {
    await queue.enqueue(tx, { kind: sweepBlobsJob, key: 'all', payload: {} })
  })
}

/** Enqueues the deletion of passages of a file that are no longer needed. */
export async function requestPassageClearing(queue: Queue, tx: Tx, file: FileRow): Promise<void> {
  const payload: ClearPassages = { botId: file.bot_id, fileId: file.id, key: file.key }
  await queue.enqueue(tx, { kind: clearPassagesJob, key: file.id, payload })
}

/** Waiting files of one bot beyond which its further ones come last. */
const maxWaitingInTurn = 10

/**
 * Enqueues the indexing of a generation, whose file waits for it by now. The more files of its bot wait, the later it
 * comes: otherwise a bot with many files that take minutes each would keep those of all others waiting for hours.
 */
export async function requestIndexing(
  queue: Queue,
  tx: Tx,
  { workspace_id: scope }: Pick<FileRow, 'workspace_id'>,
  content: ContentRow,
  passages?: PassagesOf,
): Promise<void> {
  const { bot_id: botId, file_id: fileId, generation } = content
  const payload: IndexFile = { botId, fileId, generation, passages }
  const waiting = await countWaitingFiles(tx, botId, maxWaitingInTurn + 1)
  await queue.enqueue(tx, {
    kind: indexFileJob,
    key: fileId,
    payload,
    scope,
    priority: waiting <= 1 ? 'high' : waiting <= maxWaitingInTurn ? 'normal' : 'low',
    maxAttempts: indexAttempts,
    deadlineMs: indexDeadline(content.size),
  })
}

/** Attempts before indexing fails for good. */
const indexAttempts = 3

const minute = 60_000
/** The deadline for small files, in milliseconds: reading takes seconds, waiting for a free worker more. */
const minDeadline = 10 * minute
/** Additional milliseconds per megabyte. */
const millisecondsPerMegabyte = 30_000

/**
 * The deadline of one attempt at indexing, in milliseconds.
 * @param size of the content in bytes
 */
function indexDeadline(size: number): number {
  return Math.round(minDeadline + (size / 1_000_000) * millisecondsPerMegabyte)
}

/** A sweep that fails for a while, for example because of a full disk, must not be given up. */
export const sweepAttempts = 1000

/**
 * Schedules the deletion of expired files.
 * @param at ISO 8601; the earliest of all requests counts
 */
export async function scheduleExpiry(queue: Queue, tx: Tx, at: string): Promise<void> {
  await queue.enqueue(tx, {
    kind: expireFilesJob,
    key: 'all',
    payload: {},
    runAt: Date.parse(at),
    maxAttempts: sweepAttempts,
  })
}
