import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { ApiError } from '@botstead/contract'
import { BlobTooLargeError } from '../../../platform/blobs/blob-store.js'
import { type Generations, reuseOrReplaceBlob } from '../contents/index.js'
import type { FilesDeps } from '../dependencies.js'
import type { ContentRow } from '../table.js'
import {
  brokenOff,
  requireClaim,
  requireTagging,
  targetOf,
  tooLarge,
  toUploadError,
  type UploadGate,
  wrongSize,
} from './gate.js'
import type { UploadLock, UploadLocks } from './locks.js'
import { watchForStall } from './stall-watch.js'

/** A content that somebody sends to an upload address. */
export interface Upload {
  /** Last segment of the address. */
  token: string
  /** Value of `x-amz-tagging`. */
  tagging: string | undefined
  /** Value of `content-digest`. */
  digest: string | undefined
  /** Bytes that follow, if the sender declares them. */
  length: number | undefined
  stream: Readable
  /** Bytes that the connection has brought so far. */
  received(): number
}

/**
 * From how many bytes on an upload is claimed in the database. Smaller ones take little room and
 * less time than the claim, and only one of them can complete the file in any case.
 */
const claimedFrom = 1024 * 1024

export type WholeUploads = ReturnType<typeof createWholeUploads>

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
    const { promise: ended, reject: end } = rejection()
    const onAbort = () => end(signal.reason)
    signal.addEventListener('abort', onAbort)
    // A newer request may have come while this one was claiming.
    if (signal.aborted) onAbort()
    const stopWatching = watchForStall(timers, {
      received: upload.received,
      isCurrent: async () =>
        content.size < claimedFrom || (await gate.isClaimedBy(content, requestId)),
      onEnd: end,
    })
    try {
      return { blobKey, ...(await Promise.race([storing, ended])) }
    } catch (error) {
      // The answer goes out first; then the connection is cut and the store gives up.
      storing.then(() => blobs.remove(blobKey)).catch(() => undefined)
      if (error instanceof BlobTooLargeError)
        return await gate.fail(content, tooLarge(content.size))
      // Nobody is left to read the answer, but it was not the server that failed.
      if (upload.stream.errored) throw brokenOff(error, 'send it again from its start')
      throw toUploadError(error)
    } finally {
      signal.removeEventListener('abort', onAbort)
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
      // If this fails too, the blob is an orphan, and those are swept.
      await blobs.remove(stored.blobKey).catch(() => undefined)
      throw error
    }
  }

  return {
    /**
     * Takes the content of a file. What breaks off leaves the file as it was, so that the same
     * address can be tried again; what is too long is refused as soon as that is known.
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

/** Compares the content with the SHA-256 that the sender declares, if there is one (RFC 9530). */
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

function rejection() {
  let reject = (_reason: unknown): void => undefined
  const promise = new Promise<never>((_, rejectIt) => {
    reject = rejectIt
  })
  // Nobody may wait for it when it rejects; whoever does still gets the reason.
  promise.catch(() => undefined)
  return { promise, reject }
}
