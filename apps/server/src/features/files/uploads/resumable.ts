import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { ApiError, tus } from '@botstead/contract'
import { fieldError } from '../../../domain/refusals.js'
import { bound } from '../../../platform/bound.js'
import { isoTime } from '../../../platform/clock.js'
import { uploadAddressLifetime } from '../addresses.js'
import {
  type Generations,
  insertPart,
  patchContent,
  reuseOrReplaceBlob,
} from '../contents/index.js'
import type { FilesDeps } from '../dependencies.js'
import { type AssembleContent, assembleJob } from '../jobs.js'
import type { ContentRow } from '../table.js'
import {
  requireClaim,
  requireTagging,
  targetOf,
  tooLarge,
  toUploadError,
  type UploadGate,
  uploadInterrupted,
} from './gate.js'
import type { UploadLock, UploadLocks } from './locks.js'
import { openByteSource, type Part, readChecksum, receiveParts } from './parts.js'
import { watchUpload } from './watch.js'

/** Bytes that continue a content. */
interface Append {
  /** Last segment of the address. */
  token: string
  /** Offset of the bytes. */
  offset: number
  /** Number of bytes, if the sender declares it. */
  length: number | undefined
  tagging: string | undefined
  /** Value of `upload-checksum`. */
  checksum: string | undefined
  stream: Readable
  /** Returns the bytes that the connection has received so far. */
  received(): number
}

/** The progress of an upload. */
export interface UploadState {
  /** Bytes that are stored durably. */
  offset: number
  /** Bytes of the whole content. */
  length: number
  /** ISO 8601 time until which bytes are accepted. */
  expiresAt: string
}

/** Many: a full disk must not fail a content that has arrived completely. */
const assembleAttempts = 100
/** Milliseconds to assemble the largest content. */
const assembleDeadline = 60 * 60 * 1000

interface ResumableDeps extends Pick<FilesDeps, 'db' | 'blobs' | 'timers' | 'queue'> {
  generations: Generations
  gate: UploadGate
  locks: UploadLocks
}

/**
 * Contents that are uploaded in parts. Each part is a blob with a row; the offset that a client gets is the
 * sum over the rows, so it survives a crash of this process, and any process can continue.
 */
export function createResumableUploads(deps: ResumableDeps) {
  return bound(deps, {
    state: uploadState,
    create: createUpload,
    append: appendBytes,
    terminate: terminateUpload,
  })
}

/** Adds parts to the content; with its last byte it is complete, or soon assembled. */
async function storeParts(
  { db, blobs, gate, generations, queue }: ResumableDeps,
  content: ContentRow,
  lock: UploadLock,
  parts: readonly Part[],
): Promise<void> {
  const [only] = parts
  const isWhole = only?.start === 0 && only.size === content.size
  const whole = isWhole ? await reuseOrReplaceBlob({ db, blobs }, content.bot_id, only) : undefined
  await gate.withPending(content, async (tx, file, pending) => {
    requireClaim(pending, lock.requestId)
    if (whole !== undefined) {
      await generations.completeUpload(tx, file, pending, whole)
      return
    }
    const { bot_id, file_id, generation } = pending
    let received = pending.received ?? 0
    for (const { start, size, blobKey: blob_key } of parts) {
      if (start !== received) throw new Error(`A part begins at ${start}, not at ${received}`)
      await insertPart(tx, { bot_id, file_id, generation, start, size, blob_key })
      received += size
    }
    await patchContent(tx, bot_id, targetOf(pending), { received })
    if (received < pending.size) return
    const payload: AssembleContent = { botId: bot_id, fileId: file_id, generation }
    await queue.enqueue(tx, {
      kind: assembleJob,
      key: file_id,
      payload,
      maxAttempts: assembleAttempts,
      deadlineMs: assembleDeadline,
    })
  })
}

/** Like `storeParts`; removes the blobs of parts that are refused. */
async function storeOrRemove(
  deps: ResumableDeps,
  content: ContentRow,
  lock: UploadLock,
  parts: readonly Part[],
) {
  try {
    await storeParts(deps, content, lock, parts)
  } catch (error) {
    await removeBlobs(deps, parts)
    throw error
  }
}

async function removeBlobs({ blobs }: ResumableDeps, parts: readonly Part[]): Promise<void> {
  // Blobs that cannot be removed now are orphans, which the sweeper removes.
  for (const { blobKey } of parts) await blobs.remove(blobKey).catch(() => undefined)
}

async function receiveBytes(
  deps: ResumableDeps,
  content: ContentRow,
  request: Append,
  lock: UploadLock,
): Promise<number> {
  const { gate, timers, blobs } = deps
  const { offset } = request
  await gate.claim(content, lock.requestId, (pending) => requireOffset(pending, offset))
  const checksum = request.checksum === undefined ? undefined : requireChecksum(request.checksum)
  const source = openByteSource(request.stream)
  let refusal: unknown
  const end = (reason: unknown) => {
    refusal ??= reason
    source.stop()
  }
  const stopWatching = watchUpload(timers, lock.signal, {
    received: request.received,
    isCurrent: () => gate.isClaimedBy(content, lock.requestId),
    onEnd: end,
  })
  const unchecked: Part[] = []
  let next = offset
  try {
    const facts = { offset, size: content.size, hash: checksum?.hash }
    for await (const part of receiveParts({ blobs, timers }, source, facts)) {
      next = part.start + part.size
      if (checksum === undefined) await storeOrRemove(deps, content, lock, [part])
      else unchecked.push(part)
    }
    if (refusal === undefined && source.failure !== undefined) {
      refusal = uploadInterrupted(source.failure, 'ask for the offset and go on from there')
    }
    if (refusal !== undefined) throw refusal
    if (checksum?.matches() === false) throw checksumMismatch()
  } catch (error) {
    await removeBlobs(deps, unchecked)
    throw toUploadError(error)
  } finally {
    stopWatching()
    source.release()
  }
  if (unchecked.length > 0) await storeOrRemove(deps, content, lock, unchecked)
  return next
}

/** Completes an empty content at the first request: there are no bytes to send. */
async function completeEmpty(
  { blobs, db, gate, generations }: ResumableDeps,
  content: ContentRow,
): Promise<void> {
  const blobKey = randomUUID()
  const stored = await blobs.put(blobKey, Readable.from([]))
  const bytes = await reuseOrReplaceBlob({ db, blobs }, content.bot_id, { blobKey, ...stored })
  await gate.withPending(content, (tx, file, pending) =>
    generations.completeUpload(tx, file, pending, bytes),
  )
}

async function stateOf(deps: ResumableDeps, token: string): Promise<UploadState> {
  const content = await deps.gate.find(token)
  const isPending = content.status === 'upload_pending'
  if (isPending && content.size === 0) await completeEmpty(deps, content)
  return {
    offset: isPending ? (content.received ?? 0) : content.size,
    length: content.size,
    expiresAt: isoTime(Date.parse(content.created_at) + uploadAddressLifetime),
  }
}

/** The progress of an upload. A request that still sends to it has most likely lost its client. */
async function uploadState(deps: ResumableDeps, token: string): Promise<UploadState> {
  const { locks, gate } = deps
  await locks.interrupt(targetOf(await gate.find(token)))
  return await stateOf(deps, token)
}

/**
 * Begins an upload. Its address already exists, so the length must be that of the upsert.
 * @param length as the client declares it
 */
async function createUpload(
  deps: ResumableDeps,
  token: string,
  length: number | undefined,
): Promise<UploadState> {
  const content = await deps.gate.findPending(token)
  if (length !== content.size) {
    throw fieldError(
      'headers.upload-length',
      `must be ${content.size}, the size of the file as it was upserted.`,
    )
  }
  return await stateOf(deps, token)
}

/** Accepts the next bytes and returns the new progress. */
async function appendBytes(deps: ResumableDeps, request: Append): Promise<UploadState> {
  const { locks, gate } = deps
  const arrival = locks.nextArrival()
  const content = await gate.findPending(request.token)
  requireTagging(content, request.tagging)
  if (request.offset + (request.length ?? 0) > content.size) throw tooLarge(content.size)
  const offset = await locks.withLock(targetOf(content), { kind: 'part', arrival }, (lock) =>
    receiveBytes(deps, content, request, lock),
  )
  return { ...(await stateOf(deps, request.token)), offset }
}

/** Ends an upload for good and removes its parts. */
async function terminateUpload(
  { locks, gate, generations }: ResumableDeps,
  token: string,
): Promise<void> {
  const arrival = locks.nextArrival()
  const content = await gate.findPending(token)
  await locks.withLock(targetOf(content), { kind: 'part', arrival }, async () => {
    await gate.withPending(content, (tx, file, pending) =>
      generations.failUpload(tx, file, pending, 'The upload was given up by its sender.'),
    )
  })
}

function requireOffset(content: ContentRow, offset: number): void {
  const received = content.received ?? 0
  if (offset === received) return
  throw fieldError(
    'headers.upload-offset',
    `must be ${received}: the server has received that many bytes.`,
    'RelationConflict',
  )
}

function requireChecksum(header: string) {
  const checksum = readChecksum(header)
  if (checksum !== undefined) return checksum
  throw fieldError(
    'headers.upload-checksum',
    `must be one of ${tus.checksumAlgorithms.join(', ')}, a space, and the checksum in Base64.`,
  )
}

function checksumMismatch(): ApiError {
  return new ApiError(
    'InvalidPayload',
    'The bytes do not have the checksum of the header upload-checksum: they changed on the way and were discarded.',
    { status: 460, metadata: { in: 'headers', field: 'upload-checksum' } },
  )
}
