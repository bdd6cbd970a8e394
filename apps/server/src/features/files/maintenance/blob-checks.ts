import { createHash } from 'node:crypto'
import type { BlobStore } from '../../../platform/blobs/blob-store.js'
import { listUsedBlobs, releaseBlob } from '../contents/blob-use-store.js'
import { isStaged } from '../uploads/direct.js'
import type { CheckOptions, ConsistencyDeps, Finding } from './consistency.js'
import * as store from './consistency-store.js'

const batchSize = 200
/** A younger blob may be one whose row is about to be written, or whose upload is still going on. */
const graceAge = 25 * 60 * 60 * 1000
/** Files of a damaged blob that are named; their number is told in any case. */
const namedFiles = 20

/** The uses of each blob, and whether it is still there as it was stored. */
export async function* checkBlobs(
  deps: ConsistencyDeps,
  options: CheckOptions,
): AsyncGenerator<Finding> {
  let after = ''
  for (;;) {
    const batch = await store.listBlobCounts(deps.db, after, batchSize)
    const last = batch.at(-1)
    if (last === undefined) return
    after = last.blobKey
    for (const count of batch) {
      yield* checkUses(deps, count, options)
      yield* checkBytes(deps, count, options)
    }
  }
}

async function* checkUses(
  { run }: ConsistencyDeps,
  { blobKey, uses, references }: store.BlobCount,
  { repair }: CheckOptions,
): AsyncGenerator<Finding> {
  if (uses === references) return
  const count = await run(async (tx) => {
    const locked = await store.lockBlobCount(tx, blobKey)
    if (locked === undefined || locked.uses === locked.references || !repair) return locked
    await store.setBlobUses(tx, blobKey, Math.max(1, locked.references))
    // Without a reference there was no last use that could have handed the blob to the sweeper.
    if (locked.references === 0) await releaseBlob(tx, blobKey)
    return locked
  })
  if (count === undefined || count.uses === count.references) return
  yield {
    kind: 'blob uses',
    text: `blob ${blobKey}: ${count.uses} uses are counted, but there are ${count.references}`,
    repaired: repair,
  }
}

async function* checkBytes(
  { db, blobs }: ConsistencyDeps,
  blob: store.BlobCount,
  { contents }: CheckOptions,
): AsyncGenerator<Finding> {
  const { blobKey } = blob
  const damage = await damageOf(blobs, blob, contents)
  // It can have been replaced between the two looks.
  if (damage === undefined || !(await listUsedBlobs(db, [blobKey])).has(blobKey)) return
  const { kind, what, remedy } = damage
  const files = await store.listFilesUsing(db, blobKey, namedFiles)
  const names = files.some.map(({ botId, key }) => `${key} of bot ${botId}`)
  const more = files.count - names.length
  const list = [...names, ...(more > 0 ? [`${more} more`] : [])].join(', ')
  yield { kind, text: `blob ${blobKey}: ${what}; ${remedy}: ${list}`, repaired: false }
}

async function damageOf(
  blobs: Pick<BlobStore, 'get' | 'head'>,
  { blobKey, size, sha256 }: store.BlobCount,
  contents: boolean,
) {
  const facts = await blobs.head(blobKey)
  // Whoever sends the same bytes to one of the files mends all of them.
  const remedy = 'send the content again to one of'
  if (facts === undefined) {
    return { kind: 'missing blob', what: `its ${size} bytes are gone`, remedy } as const
  }
  if (facts.size !== size) {
    const what = `it has ${facts.size} bytes, but ${size} were uploaded`
    return { kind: 'wrong size', what, remedy } as const
  }
  if (!contents) return undefined
  const found = await hashOf(blobs, blobKey)
  if (found === sha256) return undefined
  const what = `its bytes have the SHA-256 ${found}, but ${sha256} was uploaded`
  return { kind: 'wrong bytes', what, remedy: 'delete these files and send them again' } as const
}

async function hashOf(blobs: Pick<BlobStore, 'get'>, blobKey: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of await blobs.get(blobKey)) hash.update(chunk)
  return hash.digest('hex')
}

/** Blobs that nothing refers to. */
export async function* checkOrphans(
  deps: ConsistencyDeps,
  { repair }: Pick<CheckOptions, 'repair'>,
): AsyncGenerator<Finding> {
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
