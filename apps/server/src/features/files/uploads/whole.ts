import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { ApiError } from '@botstead/contract'
import { BlobTooLargeError } from '../../../platform/blobs/blob-store.js'
import { type Generations, reuseOrReplaceBlob } from '../contents/index.js'
import type { FilesDeps } from '../dependencies.js'
import type { ContentRow } from '../table.js'
import {
  requireClaim,
  requireTagging,
  targetOf,
  tooLarge,
  toUploadError,
  type UploadGate,
  uploadInterrupted,
  wrongSize,
} from './gate.js'
import type { UploadLock, UploadLocks } from './locks.js'
import { watchUpload } from './watch.js'

/** A content that is sent to an upload address. */
export interface Upload {
  /** Last segment of the address. */
  token: string
  /** Value of `x-amz-tagging`. */
  tagging: string | undefined
  /** Value of `content-digest`. */
  digest: string | undefined
  /** Number of bytes, if the sender declares it. */
  length: number | undefined
  stream: Readable
  /** Returns the bytes that the connection has received so far. */
  received(): number
}

/**
 * Size in bytes from which an upload is claimed in the database. Smaller ones occupy little space and take
 * less time than the claim, and only one of them can complete the file in any case.
 */
const claimedFrom = 1024 * 1024

/** Makes the receiver of contents that are sent as a whole, in one request each. */
export function createWholeUploads(
  deps: Pick<FilesDeps, 'db' | 'blobs' | 'timers'> & {
    generations: Generations
    gate: UploadGate
    locks: UploadLocks
  },
) {
  const { db, blobs, timers, generations, gate, locks } = deps

  /** Stores the bytes, unless the upload has to end first. */
  async function storeBlob(content: ContentRow, upload: Upload, { requestId, signal }: UploadLock) {
    const blobKey = randomUUID()
    const storing = blobs.put(blobKey, upload.stream, { maxBytes: content.size })
    let stopWatching = (): void => undefined
    const ended = new Promise<never>((_, reject) => {
      stopWatching = watchUpload(timers, signal, {
        received: upload.received,
        isCurrent: async () =>
          content.size < claimedFrom || (await gate.isClaimedBy(content, requestId)),
        onEnd: reject,
      })
    })
    try {
      return { blobKey, ...(await Promise.race([storing, ended])) }
    } catch (error) {
      // The response is sent first; then the connection is closed and the store aborts.
      storing.then(() => blobs.remove(blobKey)).catch(() => undefined)
      if (error instanceof BlobTooLargeError)
        return await gate.fail(content, tooLarge(content.size))
      // The client is gone and reads no response, but the server has not failed.
      if (upload.stream.errored) throw uploadInterrupted(error, 'send it again from its start')
      throw toUploadError(error)
    } finally {
      stopWatching()
    }
  }

  async function receive(content: ContentRow, upload: Upload, lock: UploadLock): Promise<void> {
    const isClaimed = content.size >= claimedFrom
    if (isClaimed) await gate.claim(content, lock.requestId)
    const stored = await storeBlob(content, upload, lock)
    try {
      requireDigest(upload.digest, stored.sha256)
      if (stored.size !== content.size) {
        await gate.fail(content, wrongSize(content.size, stored.size))
      }
      const bytes = await reuseOrReplaceBlob({ db, blobs }, content.bot_id, stored)
      await gate.withPending(content, async (tx, file, pending) => {
        if (isClaimed) requireClaim(pending, lock.requestId)
        await generations.completeUpload(tx, file, pending, bytes)
      })
    } catch (error) {
      // If this fails too, the blob is an orphan, which the sweeper removes.
      await blobs.remove(stored.blobKey).catch(() => undefined)
      throw error
    }
  }

  return {
    /**
     * Receives the content of a file. An upload that breaks off leaves the file unchanged, so that the same
     * address can be used again; one that is too long is refused at the first byte too many.
     */
    async receive(upload: Upload): Promise<void> {
      const arrival = locks.nextArrival()
      const content = await gate.findPending(upload.token)
      requireTagging(content, upload.tagging)
      if (upload.length !== undefined && upload.length !== content.size) {
        await gate.fail(content, wrongSize(content.size, upload.length))
      }
      await locks.withLock(targetOf(content), { kind: 'whole', arrival }, (lock) =>
        receive(content, upload, lock),
      )
    },
  }
}

/** Compares the content with the SHA-256 that the sender declares, if any (RFC 9530). */
function requireDigest(header: string | undefined, sha256: string): void {
  const [, expected] = /(?:^|[,\s])sha-256=:([A-Za-z0-9+/=]*):/.exec(header ?? '') ?? []
  if (expected === undefined) return
  if (Buffer.from(expected, 'base64').toString('hex') === sha256) return
  throw new ApiError(
    'InvalidPayload',
    'The content does not have the SHA-256 of the header content-digest: it changed on the way, so send it again.',
    { metadata: { in: 'headers', field: 'content-digest' } },
  )
}
