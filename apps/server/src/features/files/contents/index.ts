/*
 * The contents of files: their generations, the blobs that hold them, their share of the quotas, and downloads.
 */

export {
  announceContent,
  type Description,
  inCurrentWorkspace,
  lockForWriting,
  ownerOf,
} from './announce.js'
export { createDownloads, type Downloads } from './downloads.js'
export {
  createGenerations,
  type Generations,
  type IndexingOutcome,
  reuseOrReplaceBlob,
} from './generations.js'
export { deleteReadingsOfBot } from './reading-store.js'
export { countOmissions, readingOf, readingOfPassages } from './readings.js'
export { createReindexing, type Reindexing } from './reindex.js'
export {
  type ContentId,
  discardBlob,
  discardContents,
  discardParts,
  findBlob,
  findContent,
  forgetDiscardedBlobs,
  insertPart,
  listAbandoned,
  listContents,
  listDiscardedBlobs,
  listParts,
  listUsedBlobs,
  patchContent,
  patchContents,
  releaseBlob,
  type StoredBytes,
  shareBlobs,
} from './store.js'
export { moveUsage, updateUsage, usageOf } from './usage.js'
