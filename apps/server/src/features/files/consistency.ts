import type { BlobStore } from '../../platform/blobs/blob-store.js'
import type { Clock } from '../../platform/clock.js'
import type { Db, Run } from '../../schema.js'
import { listUsedBlobs, releaseBlob } from './blob-uses.js'
import * as store from './consistency-store.js'
import { isStaged } from './direct-uploads.js'

/** Something that is not as it should be. */
export interface Finding {
  kind: 'usage' | 'blob uses' | 'missing blob' | 'wrong size' | 'orphan blob'
  /** What is wrong, with names and figures. */
  text: string
  /** Whether it was put right; what is lost cannot be. */
  repaired: boolean
}

interface ConsistencyDeps {
  db: Db
  run: Run
  clock: Clock
  blobs: Pick<BlobStore, 'head' | 'list' | 'remove'>
}

const batchSize = 200
/** A younger blob may be one whose row is about to be written, or whose upload is still going on. */
const graceAge = 25 * 60 * 60 * 1000

/**
 * Compares what is counted with what is there. A server may run on the same data: every difference
 * is looked at once more, with the row locked, before it is told or put right.
 */
export async function* checkFiles(
  deps: ConsistencyDeps,
  { repair }: { repair: boolean },
): AsyncGenerator<Finding> {
  yield* checkUsage(deps, repair)
  yield* checkBlobs(deps, repair)
  yield* checkOrphans(deps, repair)
}

async function* checkUsage({ db, run }: ConsistencyDeps, repair: boolean): AsyncGenerator<Finding> {
  const isWrong = (usage: store.UsageCount) =>
    usage.storage !== usage.storageFound || usage.vector !== usage.vectorFound
  for (const { workspaceId } of (await store.listUsageCounts(db)).filter(isWrong)) {
    const usage = await run(async (tx) => {
      const locked = await store.lockUsageCount(tx, workspaceId)
      const { storageFound: storage, vectorFound: vector } = locked
      if (isWrong(locked) && repair) await store.setUsage(tx, workspaceId, { storage, vector })
      return locked
    })
    if (!isWrong(usage)) continue
    yield {
      kind: 'usage',
      text: `workspace ${workspaceId}: ${usage.storage} bytes of files and ${usage.vector} indexed are counted, but its files have ${usage.storageFound} and ${usage.vectorFound}`,
      repaired: repair,
    }
  }
}

async function* checkBlobs(deps: ConsistencyDeps, repair: boolean): AsyncGenerator<Finding> {
  const { db, run, blobs } = deps
  let after = ''
  for (;;) {
    const batch = await store.listBlobCounts(db, after, batchSize)
    const last = batch.at(-1)
    if (last === undefined) return
    after = last.blobKey
    for (const { blobKey, uses, references } of batch) {
      if (uses === references) continue
      const count = await run(async (tx) => {
        const locked = await store.lockBlobCount(tx, blobKey)
        if (locked === undefined || locked.uses === locked.references || !repair) return locked
        await store.setBlobUses(tx, blobKey, Math.max(1, locked.references))
        // Without a reference there was no last use that could have handed the blob to the sweeper.
        if (locked.references === 0) await releaseBlob(tx, blobKey)
        return locked
      })
      if (count === undefined || count.uses === count.references) continue
      yield {
        kind: 'blob uses',
        text: `blob ${blobKey}: ${count.uses} uses are counted, but there are ${count.references}`,
        repaired: repair,
      }
    }
    for (const { blobKey, size } of batch) {
      const facts = await blobs.head(blobKey)
      if (facts?.size === size) continue
      // It can have been replaced between the two looks.
      if (!(await listUsedBlobs(db, [blobKey])).has(blobKey)) continue
      yield facts === undefined
        ? {
            kind: 'missing blob',
            text: `blob ${blobKey}: its ${size} bytes are gone; upload the files that use it again`,
            repaired: false,
          }
        : {
            kind: 'wrong size',
            text: `blob ${blobKey}: it has ${facts.size} bytes, but ${size} were uploaded`,
            repaired: false,
          }
    }
  }
}

async function* checkOrphans(deps: ConsistencyDeps, repair: boolean): AsyncGenerator<Finding> {
  const { db, clock, blobs } = deps
  const before = clock.now() - graceAge
  async function* orphansAmong(keys: readonly string[]): AsyncGenerator<Finding> {
    const used = await listUsedBlobs(db, keys)
    // These are on their way out already; the sweeper of a running server takes them.
    const leaving = await store.listDiscardedAmong(db, keys)
    for (const key of keys) {
      if (used.has(key) || leaving.has(key)) continue
      if (repair) await blobs.remove(key)
      yield {
        kind: 'orphan blob',
        text: `blob ${key}: nothing refers to it`,
        repaired: repair,
      }
    }
  }
  let keys: string[] = []
  for await (const { key, storedAt } of blobs.list()) {
    if (storedAt > before || isStaged(key)) continue
    keys.push(key)
    if (keys.length < batchSize) continue
    yield* orphansAmong(keys)
    keys = []
  }
  if (keys.length > 0) yield* orphansAmong(keys)
}
