/*
 * The contents of files: their generations, the blobs that hold them, what they count in the quotas, and how
 * they are read.
 */

export {
  announceContent,
  type Description,
  lockForWriting,
  ownerOf,
} from './announce.js'
export {
  discardBlob,
  findBlob,
  forgetDiscardedBlobs,
  listDiscardedBlobs,
  listUsedBlobs,
  releaseBlob,
  type StoredBytes,
} from './blob-use-store.js'
export {
  type ContentId,
  discardContents,
  discardParts,
  findContent,
  insertPart,
  listAbandoned,
  listContents,
  listParts,
  patchContent,
  patchContents,
} from './content-store.js'
export { createDownloads, type Downloads } from './downloads.js'
export { createGenerations, type Generations } from './generations.js'
export { createReindexing, type Reindexing } from './reindex.js'
export { reuseOrReplaceBlob } from './reuse-blob.js'
export { updateUsage, usageOf } from './usage.js'
