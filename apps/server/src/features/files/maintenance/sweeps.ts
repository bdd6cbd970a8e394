import { isoTime } from '../../../platform/clock.js'
import type { Run } from '../../../platform/db/schema.js'
import { uploadAddressLifetime } from '../addresses.js'
import {
  forgetDiscardedBlobs,
  listDiscardedBlobs,
  listUsedBlobs,
} from '../contents/blob-use-store.js'
import { findContent, listAbandoned } from '../contents/content-store.js'
import type { Generations } from '../contents/generations.js'
import type { FilesDeps } from '../service.js'
import * as store from '../store.js'
import type { FileRow } from '../table.js'
import { isStaged } from '../uploads/direct.js'

const batchSize = 100
/**
 * How old a blob without a row must be to count as an orphan. Its row follows within one
 * transaction; the rest is for clocks that differ.
 */
const orphanAge = 60 * 60 * 1000

export type Sweeps = ReturnType<typeof createSweeps>

/** The removal of what is hidden already. All of it can be interrupted and repeated. */
export function createSweeps(
  deps: Pick<FilesDeps, 'db' | 'run' | 'clock' | 'blobs'> & { generations: Generations },
) {
  const { db, run, clock, blobs, generations } = deps

  return {
    /** Removes the blobs to which nothing refers any more. */
    async discardedBlobs(signal: AbortSignal): Promise<void> {
      let last: string | undefined
      let failure: unknown
      for (;;) {
        signal.throwIfAborted()
        const keys = await listDiscardedBlobs(db, batchSize, last)
        last = keys.at(-1)
        if (last === undefined) break
        // The blob goes first: a crash in between leaves a row that is tried again.
        const removed: string[] = []
        for (const key of keys) {
          try {
            await blobs.remove(key)
            removed.push(key)
          } catch (error) {
            failure ??= error
          }
        }
        if (removed.length > 0)
          await run((tx) => forgetDiscardedBlobs(tx, removed), { freesRoom: true })
      }
      // One that cannot be removed now keeps no other from going, and is tried again with the job.
      if (failure !== undefined) throw failure
    },

    /** Removes blobs whose row was never written, and what broken uploads left. */
    async orphans(signal: AbortSignal): Promise<void> {
      await blobs.sweepTemporary(orphanAge)
      const before = clock.now() - orphanAge
      // These wait for a job, which may be late.
      const beforeStaged = before - uploadAddressLifetime
      let candidates: string[] = []
      const removeUnused = async () => {
        const used = await listUsedBlobs(db, candidates)
        for (const key of candidates) if (!used.has(key)) await blobs.remove(key)
        candidates = []
      }
      for await (const { key, storedAt } of blobs.list()) {
        signal.throwIfAborted()
        if (storedAt > (isStaged(key) ? beforeStaged : before)) continue
        candidates.push(key)
        if (candidates.length >= batchSize) await removeUnused()
      }
      if (candidates.length > 0) await removeUnused()
    },

    /** Gives up uploads whose address no longer works, so that they stop counting. */
    async abandonedUploads(signal: AbortSignal): Promise<void> {
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
                // Nobody can reach it any more, and it must not be found again and again.
                await generations.discard(tx, botId, [content])
                return
              }
              await generations.failUpload(tx, file, content, 'No content came within 24 hours.')
            },
            { freesRoom: true },
          )
        }
      }
    },

    /** Deletes the files that have expired. */
    async expiredFiles(signal: AbortSignal): Promise<void> {
      for (;;) {
        signal.throwIfAborted()
        const now = isoTime(clock.now())
        const expired = await store.listExpired(db, now, batchSize)
        if (expired.length === 0) return
        await removeFiles(run, generations, expired, (file) => isExpired(file, now))
      }
    },

    /** Deletes the files of a bot that is gone. */
    async filesOfBot(botId: string): Promise<void> {
      for (;;) {
        const ids = await store.listIdsOfBot(db, botId, batchSize)
        if (ids.length === 0) return
        const files = ids.map((id) => ({ bot_id: botId, id }))
        await removeFiles(run, generations, files, () => true)
      }
    },
  }
}

/** A transaction per file: many in one would keep others waiting. */
async function removeFiles(
  run: Run,
  generations: Generations,
  files: readonly Pick<FileRow, 'bot_id' | 'id'>[],
  isMeant: (file: FileRow) => boolean,
): Promise<void> {
  for (const { bot_id: botId, id } of files) {
    await run(
      async (tx) => {
        const file = await store.lockFile(tx, botId, id)
        if (file !== undefined && isMeant(file)) await generations.remove(tx, file)
      },
      { freesRoom: true },
    )
  }
}

function isExpired(file: FileRow, now: string): boolean {
  return file.expires_at !== null && file.expires_at <= now
}
