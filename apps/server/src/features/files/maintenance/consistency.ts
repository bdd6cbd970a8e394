import type { BlobStore } from '../../../platform/blobs/blob-store.js'
import type { Clock } from '../../../platform/clock.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import { checkBlobs, checkOrphans } from './blob-checks.js'
import { checkCounts, checkStrayContents, checkUsage } from './count-checks.js'

/** Something that is not as it should be. */
export interface Finding {
  kind:
    | 'content without file'
    | 'file size'
    | 'usage'
    | 'blob uses'
    | 'missing blob'
    | 'wrong size'
    | 'wrong bytes'
    | 'orphan blob'
  /** What is wrong, with names and figures. */
  text: string
  /** Whether it was put right; what is lost cannot be. */
  repaired: boolean
}

export interface ConsistencyDeps {
  db: Db
  run: Run
  clock: Clock
  blobs: Pick<BlobStore, 'get' | 'head' | 'list' | 'remove'>
}

export interface CheckOptions {
  /** Put right what is not lost. */
  repair: boolean
  /** Read all contents and compare their SHA-256, which takes as long as reading them takes. */
  contents: boolean
}

/**
 * Compares what is counted with what is there. A server may run on the same data: every difference
 * is looked at once more, with the row locked, before it is told or put right.
 */
export async function* checkFiles(
  deps: ConsistencyDeps,
  options: CheckOptions,
): AsyncGenerator<Finding> {
  // In this order, because what the first ones put right is counted by the next.
  yield* checkStrayContents(deps, options)
  yield* checkCounts(deps, options)
  yield* checkUsage(deps, options)
  yield* checkBlobs(deps, options)
  yield* checkOrphans(deps, options)
}
