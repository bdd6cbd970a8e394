import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { ApiError } from '@botstead/contract'
import { BlobTooLargeError } from '../../../platform/blobs/blob-store.js'
import type { ContentRow } from '../contents/content-store.js'
import type { Generations } from '../contents/generations.js'
import { besideLostBlob } from '../contents/lost-blobs.js'
import type { FilesDeps } from '../service.js'
import { brokenOff, tooLarge, toUploadError, wrongSize } from './errors.js'
import { requireClaim, requireTagging, targetOf, type UploadGate } from './gate.js'
import { takenOver, type Writer, type Writers } from './locks.js'
import { watchUpload } from './stall-watch.js'

/** A content that somebody sends to an upload address. */
export interface Upload {
  /** Last segment of the address. */
  token: string
  /** Value of `x-amz-tagging`. */
  tagging: string | undefined
  /** Value of `content-digest`. */
  digest: string | undefined
  /** Bytes that follow, if the sender says so. */
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

export type Uploads = ReturnType<typeof createUploads>

export function createUploads(
  deps: Pick<FilesDeps, 'db' | 'blobs' | 'timers'> & {
    generations: Generations
    gate: UploadGate
    writers: Writers
  },
) {
  const { db, blobs, timers, generations, gate, writers } = deps

  /** Stores the bytes, unless the upload has to end first. */
  async function storeBlob(content: ContentRow, upload: Upload, { id, signal }: Writer) {
    const blobKey = randomUUID()
    const storing = blobs.put(blobKey, upload.stream, { maxBytes: content.size })
    const { promise: ended, reject: end } = rejection()
    const onAbort = () => end(signal.reason)
    signal.addEventListener('abort', onAbort)
    // A newer request may have come while this one was claiming.
    if (signal.aborted) onAbort()
    const stopWatching = watchUpload(timers, takenOver, {
      received: upload.received,
      isCurrent: async () => content.size < claimedFrom || (await gate.isClaimedBy(content, id)),
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

  async function receive(content: ContentRow, upload: Upload, writer: Writer): Promise<void> {
    const isClaimed = content.size >= claimedFrom
    if (isClaimed) await gate.claim(content, writer.id)
    const stored = await storeBlob(content, upload, writer)
    try {
      requireDigest(upload.digest, stored.sha256)
      if (stored.size !== content.size) {
        await gate.fail(content, wrongSize(content.size, stored.size))
      }
      const bytes = await besideLostBlob({ db, blobs }, content.bot_id, stored)
      await gate.settle(content, async (tx, file, pending) => {
        if (isClaimed) requireClaim(pending, writer.id)
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
      const arrival = writers.arrive()
      const content = await gate.requireOpen(upload.token)
      requireTagging(content, upload.tagging)
      if (upload.length !== undefined && upload.length !== content.size) {
        await gate.fail(content, wrongSize(content.size, upload.length))
      }
      await writers.write(targetOf(content), { kind: 'whole', arrival }, (writer) =>
        receive(content, upload, writer),
      )
    },
  }
}

/** Compares the SHA-256 that the sender says the content has, if it says one (RFC 9530). */
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
  // Whoever waits for it hears it; before and after that it is nobody's failure.
  promise.catch(() => undefined)
  return { promise, reject }
}
