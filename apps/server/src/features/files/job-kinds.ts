/** Name of the job that makes a generation searchable. Done by search, which knows files. */
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

/** Attempts before a file is given up. */
export const indexAttempts = 3

const minute = 60_000
/** Small files get this, in milliseconds: reading them takes seconds, waiting for a free worker more. */
const shortestDeadline = 10 * minute
/** Milliseconds more for every megabyte. */
const millisecondsPerMegabyte = 30_000

/**
 * How long one attempt at indexing may take, in milliseconds.
 * @param size of the content in bytes
 */
export function indexDeadline(size: number): number {
  return Math.round(shortestDeadline + (size / 1_000_000) * millisecondsPerMegabyte)
}

/** Name of the job that removes passages which are found no more. Done by search. */
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

/** Name of the job that looks for a content which its sender puts into the store itself. */
export const directUploadJob = 'files.direct'

/** Name of the job that deletes expired files and gives up uploads that never came. */
export const expireFilesJob = 'files.expire'
