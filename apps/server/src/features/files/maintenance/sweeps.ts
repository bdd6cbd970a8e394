import { isoTime } from '../../../platform/clock.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import { uploadAddressLifetime } from '../addresses.js'
import {
  findContent,
  forgetDiscardedBlobs,
  type Generations,
  listAbandoned,
  listDiscardedBlobs,
  listUsedBlobs,
} from '../contents/index.js'
import type { FilesDeps } from '../dependencies.js'
import {
  expireFilesJob,
  scheduleExpiry,
  sweepAttempts,
  sweepBlobsJob,
  sweepOrphansJob,
} from '../jobs.js'
import * as store from '../store.js'
import type { FileRow } from '../table.js'
import { isStaged } from '../uploads/index.js'

const batchSize = 100
const day = 24 * 60 * 60 * 1000
/** Milliseconds until a sweep tries again that found a backup running. */
const heldPauseMs = 60_000
/**
 * Age from which a blob without a row counts as an orphan. Its row follows within one
 * transaction; the rest allows for clocks that differ.
 */
const orphanAge = 60 * 60 * 1000

/** Deletion, in the background, of files and blobs that nothing shows any more. */
export interface Sweeps {
  jobs: Record<string, JobHandler>
  /** Enqueues the sweeps that run after each start. */
  schedule(tx: Tx): Promise<void>
  /** Deletes the files of a deleted bot. */
  removeFilesOf(botId: string): Promise<void>
}

interface SweepsDeps
  extends Pick<FilesDeps, 'db' | 'run' | 'clock' | 'queue' | 'blobs' | 'isBackupRunning'> {
  generations: Generations
}

/** Deletes hidden files and unused blobs. Every sweep can be interrupted and repeated. */
export function createSweeps(deps: SweepsDeps): Sweeps {
  return {
    removeFilesOf: (botId) => removeFilesOf(deps, botId),
    jobs: {
      [sweepBlobsJob]: blobSweep(deps),
      [sweepOrphansJob]: orphanSweep(deps),
      [expireFilesJob]: {
        mayUseReserve: true,
        handler: (_job, { signal }) => removeExpiredFiles(deps, signal),
        // Each run enqueues the next, instead of polling every minute.
        onDone: (tx) => scheduleNextExpiry(deps, tx),
      },
    },
    schedule: async (tx) => {
      await scheduleOrphans(deps, tx, deps.clock.now())
      await scheduleNextExpiry(deps, tx)
    },
  }
}

function blobSweep(deps: SweepsDeps): JobHandler {
  return {
    mayUseReserve: true,
    handler: (_job, { signal }) => removeDiscardedBlobs(deps, signal),
    onDone: async (tx, _job, again) => {
      if (again !== true) return
      const runAt = deps.clock.now() + heldPauseMs
      await deps.queue.enqueue(tx, { kind: sweepBlobsJob, key: 'all', payload: {}, runAt })
    },
  }
}

function orphanSweep(deps: SweepsDeps): JobHandler {
  return {
    mayUseReserve: true,
    everyMs: day,
    handler: async (_job, { signal }) => {
      await failAbandonedUploads(deps, signal)
      return await removeOrphans(deps, signal)
    },
    onDone: async (tx, _job, again) => {
      await scheduleOrphans(deps, tx, deps.clock.now() + (again === true ? heldPauseMs : day))
    },
  }
}

/**
 * Removes blobs without references.
 * @returns whether it has to run again later, because a backup is being made
 */
async function removeDiscardedBlobs(
  { db, isBackupRunning, blobs, run }: SweepsDeps,
  signal: AbortSignal,
): Promise<boolean> {
  let last: string | undefined
  let failure: unknown
  for (;;) {
    signal.throwIfAborted()
    const keys = await listDiscardedBlobs(db, batchSize, last)
    last = keys.at(-1)
    if (last === undefined) break
    // Asked after the list was read, which therefore has no blob that a later backup needs.
    if (await isBackupRunning()) return true
    // The blob is removed first: a crash in between leaves a row, and the next run tries again.
    const { removed, ...rest } = await blobs.removeAll(keys)
    failure ??= rest.failure
    if (removed.length > 0)
      await run((tx) => forgetDiscardedBlobs(tx, removed), { mayUseReserve: true })
  }
  // A blob that cannot be removed does not stop the others, and the job tries it again.
  if (failure !== undefined) throw failure
  return false
}

/**
 * Removes blobs whose row was never written, and the rest of broken uploads.
 * @returns as `removeDiscardedBlobs`
 */
async function removeOrphans(
  { blobs, clock, db, isBackupRunning }: SweepsDeps,
  signal: AbortSignal,
): Promise<boolean> {
  await blobs.sweepTemporary(orphanAge)
  const before = clock.now() - orphanAge
  // These wait for a job, which may be late.
  const beforeStaged = before - uploadAddressLifetime
  let candidates: string[] = []
  const removeUnused = async () => {
    const used = await listUsedBlobs(db, candidates)
    if (await isBackupRunning()) return false
    const { failure } = await blobs.removeAll(candidates.filter((key) => !used.has(key)))
    if (failure !== undefined) throw failure
    candidates = []
    return true
  }
  for await (const { key, storedAt } of blobs.list()) {
    signal.throwIfAborted()
    if (storedAt > (isStaged(key) ? beforeStaged : before)) continue
    candidates.push(key)
    if (candidates.length >= batchSize && !(await removeUnused())) return true
  }
  return candidates.length > 0 && !(await removeUnused())
}

/** Fails uploads whose address has expired, so that they no longer count towards the quotas. */
async function failAbandonedUploads(
  { clock, db, run, generations }: SweepsDeps,
  signal: AbortSignal,
): Promise<void> {
  const before = isoTime(clock.now() - uploadAddressLifetime)
  for (;;) {
    signal.throwIfAborted()
    const abandoned = await listAbandoned(db, before, batchSize)
    if (abandoned.length === 0) return
    for (const { bot_id: botId, file_id: fileId, generation } of abandoned) {
      await run(
        async (tx) => {
          const file = await store.lockFile(tx, botId, fileId)
          const content = await findContent(tx, botId, { fileId, generation })
          if (content?.status !== 'upload_pending') return
          if (file === undefined) {
            // No caller can reach it, and it must not be found again and again.
            await generations.discard(tx, botId, [content])
            return
          }
          await generations.failUpload(tx, file, content, 'No content came within 24 hours.')
        },
        { mayUseReserve: true },
      )
    }
  }
}

/** Deletes the files that have expired. */
async function removeExpiredFiles(deps: SweepsDeps, signal: AbortSignal): Promise<void> {
  const { clock, db } = deps
  for (;;) {
    signal.throwIfAborted()
    const now = isoTime(clock.now())
    const expired = await store.listExpired(db, now, batchSize)
    if (expired.length === 0) return
    await removeFiles(deps, expired, (file) => isExpired(file, now))
  }
}

/** Deletes the files of a deleted bot. */
async function removeFilesOf(deps: SweepsDeps, botId: string): Promise<void> {
  for (;;) {
    const ids = await store.listIdsOfBot(deps.db, botId, batchSize)
    if (ids.length === 0) return
    const files = ids.map((id) => ({ bot_id: botId, id }))
    await removeFiles(deps, files, () => true)
  }
}

/** One transaction per file: a single one for many would block others. */
async function removeFiles(
  { run, generations }: SweepsDeps,
  files: readonly Pick<FileRow, 'bot_id' | 'id'>[],
  isMeant: (file: FileRow) => boolean,
): Promise<void> {
  for (const { bot_id: botId, id } of files) {
    await run(
      async (tx) => {
        const file = await store.lockFile(tx, botId, id)
        if (file !== undefined && isMeant(file)) await generations.remove(tx, file)
      },
      { mayUseReserve: true },
    )
  }
}

async function scheduleOrphans({ queue }: SweepsDeps, tx: Tx, runAt: number): Promise<void> {
  await queue.enqueue(tx, {
    kind: sweepOrphansJob,
    key: 'all',
    payload: {},
    runAt,
    maxAttempts: sweepAttempts,
  })
}

async function scheduleNextExpiry({ queue }: SweepsDeps, tx: Tx): Promise<void> {
  const next = await store.findNextExpiry(tx)
  if (next !== undefined) await scheduleExpiry(queue, tx, next)
}

function isExpired(file: FileRow, now: string): boolean {
  return file.expires_at !== null && file.expires_at <= now
}
