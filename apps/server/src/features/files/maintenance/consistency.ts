import { createHash } from 'node:crypto'
import type { BlobStore } from '../../../platform/blobs/blob-store.js'
import type { Clock } from '../../../platform/clock.js'
import type { Db, Run } from '../../../platform/db/schema.js'
import {
  discardContents,
  discardParts,
  findContent,
  listContents,
  listUsedBlobs,
  releaseBlob,
  updateUsage,
  usageOf,
} from '../contents/index.js'
import { lockFile } from '../store.js'
import type { ContentRow, FileRow } from '../table.js'
import { isStaged } from '../uploads/index.js'
import * as store from './consistency-store.js'

/** An inconsistency. */
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
  /** A description with names and figures. */
  text: string
  /** Whether it was repaired; lost contents cannot be. */
  repaired: boolean
}

interface ConsistencyDeps {
  db: Db
  run: Run
  clock: Clock
  blobs: Pick<BlobStore, 'get' | 'head' | 'list' | 'remove'>
}

export interface CheckOptions {
  /** Whether to repair everything but lost contents. */
  repair: boolean
  /** Whether to read all contents and compare their SHA-256, which takes as long as reading them. */
  contents: boolean
}

/**
 * Compares counters with the stored data. A server may run on the same data: every difference
 * is checked again, with the row locked, before it is reported or repaired.
 */
export async function* checkFiles(
  deps: ConsistencyDeps,
  options: CheckOptions,
): AsyncGenerator<Finding> {
  // In this order, because later checks count the results of earlier repairs.
  yield* checkStrayContents(deps, options)
  yield* checkCounts(deps, options)
  yield* checkUsage(deps, options)
  yield* checkBotUsage(deps, options)
  yield* checkBlobs(deps, options)
  yield* checkOrphans(deps, options)
}

const batchSize = 200

/** Contents without a file: they occupy space, and no caller can delete them. */
async function* checkStrayContents(
  { db, run }: Pick<ConsistencyDeps, 'db' | 'run'>,
  { repair }: Pick<CheckOptions, 'repair'>,
): AsyncGenerator<Finding> {
  let after = { fileId: '', generation: 0 }
  for (;;) {
    const batch = await store.listContentsWithoutFile(db, after, batchSize)
    const last = batch.at(-1)
    if (last === undefined) return
    after = { fileId: last.file_id, generation: last.generation }
    for (const { bot_id: botId, file_id: fileId, generation } of batch) {
      const size = await run(async (tx) => {
        const content = await findContent(tx, botId, { fileId, generation })
        if (content !== undefined && repair) {
          await discardParts(tx, botId, { fileId, generation })
          await discardContents(tx, botId, [content])
        }
        return content?.size
      })
      if (size === undefined) continue
      yield {
        kind: 'content without file',
        text: `generation ${generation} of file ${fileId}, ${size} bytes: bot ${botId} has no such file`,
        repaired: repair,
      }
    }
  }
}

/** Compares the counted bytes of each file with its contents. */
async function* checkCounts(
  { db, run }: Pick<ConsistencyDeps, 'db' | 'run'>,
  { repair }: Pick<CheckOptions, 'repair'>,
): AsyncGenerator<Finding> {
  let after = ''
  for (;;) {
    const batch = await store.listFilesAfter(db, after, batchSize)
    const last = batch.at(-1)
    if (last === undefined) return
    after = last.id
    const ids = batch.map(({ id }) => id)
    const contents = new Map(ids.map((id): [string, ContentRow[]] => [id, []]))
    for (const row of await store.listContentsOf(db, ids)) contents.get(row.file_id)?.push(row)
    for (const { bot_id: botId, id, ...seen } of batch) {
      if (isCounted(seen, usageOf(contents.get(id) ?? []))) continue
      const wrong = await run(async (tx) => {
        const file = await lockFile(tx, botId, id)
        if (file === undefined) return undefined
        const found = usageOf(await listContents(tx, botId, id))
        if (isCounted(file, found)) return undefined
        if (repair) await updateUsage(tx, file, undefined)
        return { file, found }
      })
      if (wrong === undefined) continue
      const { file, found } = wrong
      yield {
        kind: 'file size',
        text: `file ${file.key} of bot ${botId}: ${file.counted_storage} bytes and ${file.counted_vector} indexed are counted, but its contents have ${found.storage} and ${found.vector}`,
        repaired: repair,
      }
    }
  }
}

function isCounted(
  file: Pick<FileRow, 'counted_storage' | 'counted_vector'>,
  found: { storage: number; vector: number },
): boolean {
  return file.counted_storage === found.storage && file.counted_vector === found.vector
}

/** Compares the usage of each workspace with the sum over its files. */
async function* checkUsage(
  { db, run }: Pick<ConsistencyDeps, 'db' | 'run'>,
  { repair }: Pick<CheckOptions, 'repair'>,
): AsyncGenerator<Finding> {
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

/** Compares the usage of each bot with the sum over its files. */
async function* checkBotUsage(
  { db, run }: Pick<ConsistencyDeps, 'db' | 'run'>,
  { repair }: Pick<CheckOptions, 'repair'>,
): AsyncGenerator<Finding> {
  for (const { botId } of await store.listWrongBotUsage(db)) {
    const usage = await run(async (tx) => {
      // Who changes the usage of a bot holds that of its workspace first.
      const workspaceId = await store.findWorkspaceOfFiles(tx, botId)
      if (workspaceId !== undefined) await store.lockUsageCount(tx, workspaceId)
      const [wrong] = await store.listWrongBotUsage(tx, botId)
      if (wrong !== undefined && repair) await store.recountBotUsage(tx, botId)
      return wrong
    })
    if (usage === undefined) continue
    yield {
      kind: 'usage',
      text: `bot ${botId}: ${usage.storage} bytes of files and ${usage.vector} indexed in ${usage.indexedFiles} files are counted, but its files have ${usage.storageFound} and ${usage.vectorFound} in ${usage.indexedFilesFound}`,
      repaired: repair,
    }
  }
}

/** The row of a younger blob may not be written yet, or its upload may still be running. */
const graceAge = 25 * 60 * 60 * 1000
/** Maximum number of files of a damaged blob in a finding, which also has the count of all. */
const maxListedFiles = 20

/** Compares the uses of each blob, and whether the store has it unchanged. */
async function* checkBlobs(deps: ConsistencyDeps, options: CheckOptions): AsyncGenerator<Finding> {
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
    // Without a reference there was no last use that could have left the blob to the sweeper.
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
  // It may have been replaced between the two reads.
  if (damage === undefined || !(await listUsedBlobs(db, [blobKey])).has(blobKey)) return
  const { kind, what, remedy } = damage
  const files = await store.listFilesUsing(db, blobKey, maxListedFiles)
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
  // Sending the same bytes to one of the files repairs all of them.
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

/** Finds blobs without references. */
async function* checkOrphans(
  deps: ConsistencyDeps,
  { repair }: Pick<CheckOptions, 'repair'>,
): AsyncGenerator<Finding> {
  const { db, clock, blobs } = deps
  const before = clock.now() - graceAge
  async function* orphansAmong(keys: readonly string[]): AsyncGenerator<Finding> {
    const used = await listUsedBlobs(db, keys)
    // The sweeper of a running server will remove these.
    const leaving = await store.listDiscardedAmong(db, keys)
    for (const key of keys) {
      if (used.has(key) || leaving.has(key)) continue
      // The sweeper may have removed it since it was listed, and forgotten it.
      if ((await blobs.head(key)) === undefined) continue
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
