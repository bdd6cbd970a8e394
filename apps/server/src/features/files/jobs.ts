import type { Tx } from '../../platform/db/schema.js'
import type { Queue } from '../../platform/jobs/queue.js'
import type { ContentRow, FileRow } from './table.js'

/*
 * The jobs of files, and those that files enqueue for search. What is enqueued here is what a change of a file
 * entails, in the transaction of the change.
 */

/** Name of the job that makes a generation searchable. Done by search. */
export const indexFileJob = 'search.index'

/** Payload of {@link indexFileJob}; its key is the file id, so that one file is indexed once at a time. */
export interface IndexFile {
  botId: string
  fileId: string
  generation: number
  /** Passages of the same content in another file, which need only be copied while they are there. */
  passages?: PassagesOf | undefined
}

/** The passages of one generation of a file. */
export interface PassagesOf {
  botId: string
  fileId: string
  generation: number
}

/** Name of the job that deletes passages that nobody finds any more. Done by search. */
export const clearPassagesJob = 'search.clear'

/** Payload of {@link clearPassagesJob}; its key is the file id. */
export interface ClearPassages {
  botId: string
  fileId: string
  /** Of the file, whose words may go with it. */
  key?: string
}

/** Name of the job that puts the parts of a content together. */
export const assembleJob = 'files.assemble'

/** Payload of {@link assembleJob}; its key is the file id. */
export interface AssembleContent {
  botId: string
  fileId: string
  generation: number
}

/** Name of the job that removes blobs to which nothing refers any more. */
export const sweepBlobsJob = 'files.sweep'

/** Name of the job that finds blobs which never got a row. */
export const sweepOrphansJob = 'files.orphans'

/** Name of the job that looks for a content that its sender puts into the store directly. */
export const directUploadJob = 'files.direct'

/** Name of the job that deletes expired files and gives up uploads that never came. */
export const expireFilesJob = 'files.expire'

/** Removes blobs to which nothing refers any more. */
export async function requestBlobSweep(queue: Queue, tx: Tx): Promise<void> {
  await queue.enqueue(tx, { kind: sweepBlobsJob, key: 'all', payload: {} })
}

/** Deletes passages of a file that are of no more use. */
export async function requestPassageClearing(queue: Queue, tx: Tx, file: FileRow): Promise<void> {
  const payload: ClearPassages = { botId: file.bot_id, fileId: file.id, key: file.key }
  await queue.enqueue(tx, { kind: clearPassagesJob, key: file.id, payload })
}

/** Indexes a generation. */
export async function requestIndexing(
  queue: Queue,
  tx: Tx,
  content: ContentRow,
  passages?: PassagesOf,
): Promise<void> {
  const { bot_id: botId, file_id: fileId, generation } = content
  const payload: IndexFile = { botId, fileId, generation, passages }
  await queue.enqueue(tx, {
    kind: indexFileJob,
    key: fileId,
    payload,
    maxAttempts: indexAttempts,
    deadlineMs: indexDeadline(content.size),
  })
}

/** Attempts before a file is given up. */
const indexAttempts = 3

const minute = 60_000
/** Small files get this, in milliseconds: reading them takes seconds, waiting for a free worker more. */
const shortestDeadline = 10 * minute
/** Milliseconds more for every megabyte. */
const millisecondsPerMegabyte = 30_000

/**
 * How long one attempt at indexing may take, in milliseconds.
 * @param size of the content in bytes
 */
function indexDeadline(size: number): number {
  return Math.round(shortestDeadline + (size / 1_000_000) * millisecondsPerMegabyte)
}

/** A sweep that fails for a while, such as with a full disk, must not be given up. */
export const sweepAttempts = 1000

/**
 * Deletes expired files at a time.
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
