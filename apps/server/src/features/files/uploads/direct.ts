import { randomUUID } from 'node:crypto'
import { ApiError } from '@botstead/contract'
import { putAndClose } from '../../../platform/blobs/blob-store.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import { uploadAddressLifetime } from '../addresses.js'
import { findContent, type Generations, reuseOrReplaceBlob } from '../contents/index.js'
import type { FilesDeps } from '../dependencies.js'
import { directUploadJob } from '../jobs.js'
import type { ContentRow } from '../table.js'
import { requireTagging, type UploadGate, wrongSize } from './gate.js'

/** Time in which an upload to the store must start, in seconds. */
const writeLifetime = 15 * 60
/** Maximum number of bytes that object stores accept in one request. */
const maxPutBytes = 5 * 1024 ** 3
const minPauseMs = 1_000
const maxPauseMs = 60_000
/** Copying the largest content must fit into one attempt. */
const deadlineMs = 60 * 60 * 1000
/** A temporary outage of the store must not fail an upload. */
const maxAttempts = 1000
const stagingPrefix = 'direct_'

/** Payload of {@link directUploadJob}: an upload that was redirected to the store. */
interface DirectUpload {
  botId: string
  fileId: string
  generation: number
  /** Time of the first redirection, in milliseconds since the Unix epoch. */
  since: number
}

/** Whether a blob is staged for a content; it has no row until then. */
export function isStaged(blobKey: string): boolean {
  return blobKey.startsWith(stagingPrefix)
}

/**
 * Uploads that bypass this server: the caller sends the content to the store, and a job that checks for it
 * completes the upload as if it had been sent here. The caller need not call again.
 */
export function createDirectUploads(
  deps: Pick<FilesDeps, 'db' | 'run' | 'clock' | 'queue' | 'blobs'> & {
    generations: Generations
    gate: UploadGate
  },
) {
  const { db, run, clock, queue, blobs, generations, gate } = deps

  const lookAgain = (tx: Tx, upload: DirectUpload, runAt: number) =>
    queue.enqueue(tx, {
      kind: directUploadJob,
      key: stagingKeyOf(upload),
      payload: upload,
      runAt,
      maxAttempts,
      deadlineMs,
    })

  const refuse = (content: ContentRow, size: number) =>
    gate.fail(content, wrongSize(content.size, size))

  /** Copies the content to its final key: the address of the staged one may still be written to. */
  async function adopt(staged: string, content: ContentRow): Promise<void> {
    const blobKey = randomUUID()
    const stored = await putAndClose(blobs, blobKey, await blobs.get(staged), {
      maxBytes: content.size,
    })
    try {
      if (stored.size !== content.size) await refuse(content, stored.size)
      const bytes = await reuseOrReplaceBlob(deps, content.bot_id, { blobKey, ...stored })
      await gate.withPending(content, (tx, file, pending) =>
        generations.completeUpload(tx, file, pending, bytes),
      )
    } catch (error) {
      // If this fails too, the blob is an orphan, which the sweeper removes.
      await blobs.remove(blobKey).catch(() => undefined)
      throw error
    }
  }

  /** Checks once. Returns the time of the next check in milliseconds since the Unix epoch; undefined after the last one. */
  async function lookForContent(upload: DirectUpload): Promise<number | undefined> {
    const staged = stagingKeyOf(upload)
    const content = await findContent(db, upload.botId, upload)
    if (content?.status !== 'upload_pending') {
      await blobs.remove(staged)
      return undefined
    }
    const facts = await blobs.head(staged)
    if (facts === undefined) {
      const waited = clock.now() - upload.since
      if (waited > uploadAddressLifetime) return undefined
      return clock.now() + Math.min(maxPauseMs, Math.max(minPauseMs, waited / 4))
    }
    try {
      if (facts.size === content.size) await adopt(staged, content)
      else await refuse(content, facts.size)
    } catch (error) {
      // The upload was refused or superseded: that is its end, and the file contains the reason.
      if (!(error instanceof ApiError)) throw error
    }
    await blobs.remove(staged)
    return undefined
  }

  const handler: JobHandler<DirectUpload, number | undefined> = {
    concurrency: 4,
    handler: ({ payload }) => lookForContent(payload),
    onDone: async (tx, { payload }, next) => {
      if (next !== undefined) await lookAgain(tx, payload, next)
    },
  }

  return {
    /**
     * The address in the store to which a content is sent, for the next 15 minutes; undefined when
     * it must be sent here, because the store has no such addresses or could not enforce the rules.
     */
    async addressFor(token: string, tagging: string | undefined): Promise<string | undefined> {
      const content = await gate.findPending(token)
      requireTagging(content, tagging)
      const { bot_id: botId, file_id: fileId, generation, size } = content
      const tooLarge = size > maxPutBytes
      if (blobs.direct === undefined || tagging !== undefined || size === 0 || tooLarge) {
        return undefined
      }
      const upload = { botId, fileId, generation, since: clock.now() }
      await run((tx) => lookAgain(tx, upload, upload.since + minPauseMs))
      return await blobs.direct.writeAddress(stagingKeyOf(upload), { size, seconds: writeLifetime })
    },

    jobs: { [directUploadJob]: handler },
  }
}

function stagingKeyOf({ fileId, generation }: Pick<DirectUpload, 'fileId' | 'generation'>) {
  return `${stagingPrefix}${fileId}_${generation}`
}
