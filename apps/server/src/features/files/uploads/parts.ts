import { createHash, type Hash, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { type BlobStore, putAndClose } from '../../../platform/blobs/blob-store.js'
import type { Timers } from '../../../platform/clock.js'
import type { JobHandler } from '../../../platform/jobs/handler.js'
import {
  discardBlob,
  findContent,
  type Generations,
  listParts,
  reuseOrReplaceBlob,
  type StoredBytes,
} from '../contents/index.js'
import type { FilesDeps } from '../dependencies.js'
import { type AssembleContent, requestBlobSweep } from '../jobs.js'
import { lockFile } from '../store.js'
import type { ContentRow, PartRow } from '../table.js'
import { tooLarge } from './gate.js'

/** Bytes after which a part is stored. Together with the time they limit the loss by a crash. */
const partBytes = 16 * 1024 * 1024
/** Milliseconds after which a part is stored, however small it is. */
const partTime = 3000

/** A part in the blob store. */
export interface Part extends StoredBytes {
  /** Its offset in the content, in bytes. */
  start: number
}

interface PartSequence {
  /** Offset of the first byte in the content. */
  offset: number
  /** Bytes of the whole content. */
  size: number
  hash?: Hash | undefined
}

/**
 * Stores the bytes of a source as parts, one after another, each durable when it is yielded. A source that
 * fails or is stopped ends the last part early, and no received byte is lost.
 * @throws ApiError when more arrives than the content may have; that part is dropped
 */
export async function* receiveParts(
  { blobs, timers }: { blobs: BlobStore; timers: Timers },
  source: ByteSource,
  { offset, size, hash }: PartSequence,
): AsyncGenerator<Part> {
  let start = offset
  for (;;) {
    const first = await source.next(() => false)
    if (first === undefined) return
    const blobKey = randomUUID()
    const bytes = bytesOfPart(source, first, { left: size - start, timers, hash, size })
    const stored = await putAndClose(blobs, blobKey, Readable.from(bytes, { objectMode: false }))
    yield { blobKey, start, ...stored }
    start += stored.size
  }
}

async function* bytesOfPart(
  source: ByteSource,
  first: Uint8Array,
  {
    left,
    size,
    timers,
    hash,
  }: { left: number; size: number; timers: Timers; hash: Hash | undefined },
): AsyncGenerator<Uint8Array> {
  let isLate = false
  const cancel = timers.after(partTime, () => {
    isLate = true
    source.wake()
  })
  try {
    let sent = 0
    let chunk: Uint8Array | undefined = first
    while (chunk !== undefined) {
      sent += chunk.length
      if (sent > left) throw tooLarge(size)
      hash?.update(chunk)
      yield chunk
      chunk = await source.next(() => isLate || sent >= partBytes)
    }
  } finally {
    cancel()
  }
}

const algorithms: Readonly<Record<string, string>> = { sha256: 'sha256', sha1: 'sha1', md5: 'md5' }

/** A checksum that a sender declares for its bytes. */
export interface Checksum {
  hash: Hash
  /** Whether the hashed bytes have the declared checksum. */
  matches(): boolean
}

/** Parses a header `Upload-Checksum`; undefined if it is malformed. */
export function readChecksum(header: string): Checksum | undefined {
  const [, name = '', value = ''] = /^(\w+) ([A-Za-z0-9+/]+=*)$/.exec(header) ?? []
  const algorithm = Object.hasOwn(algorithms, name) ? algorithms[name] : undefined
  if (algorithm === undefined) return undefined
  const hash = createHash(algorithm)
  return { hash, matches: () => hash.digest().equals(Buffer.from(value, 'base64')) }
}

/** The bytes of a request, chunk by chunk, that can be stopped between two chunks. */
export interface ByteSource {
  /** The next bytes; undefined at the end, after a failure, once stopped, or when `isOver` returns true. */
  next(isOver: () => boolean): Promise<Uint8Array | undefined>
  /** Makes a pending `next` call its `isOver` again. */
  wake(): void
  /** Stops reading; the chunks that have arrived by now are still returned. */
  stop(): void
  /** Stops reading and leaves the stream to others. */
  release(): void
  /** The error of the stream; undefined if it did not fail. */
  readonly failure: unknown
}

/**
 * Reads a stream without destroying it on any error: its connection is still needed for the
 * response. Waiting costs one promise per chunk and leaves none pending.
 */
export function openByteSource(stream: Readable): ByteSource {
  let wake = (): void => undefined
  let failure: unknown = stream.errored ?? undefined
  let isComplete = stream.readableEnded
  let isStopped = false
  /** The bytes that had arrived and were not returned when the source was stopped. */
  let last: Uint8Array | null = null
  const onReadable = (): void => wake()
  const onEnd = (): void => {
    isComplete = true
    wake()
  }
  const onClose = (): void => {
    if (!isComplete) failure ??= new Error('The connection was closed.')
    wake()
  }
  const onError = (error: unknown): void => {
    failure = error
    wake()
  }
  stream.on('readable', onReadable).on('end', onEnd).on('close', onClose).on('error', onError)

  return {
    async next(isOver) {
      for (;;) {
        if (isOver()) return undefined
        if (isStopped) {
          const rest = last ?? undefined
          last = null
          return rest
        }
        // Bytes that arrived before a failure are valid.
        const chunk: Uint8Array | null = stream.read()
        if (chunk !== null) return chunk
        if (isComplete || failure !== undefined) return undefined
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    wake: () => wake(),
    stop: () => {
      if (isStopped) return
      isStopped = true
      last = stream.read()
      wake()
    },
    // The error listener stays: later errors do not affect the upload.
    release: () => {
      isStopped = true
      last = null
      wake()
      stream.off('readable', onReadable).off('end', onEnd).off('close', onClose)
    },
    get failure() {
      return failure
    },
  }
}

/**
 * The job that assembles the parts of a content: into one blob that is served like every other, with
 * the hash of the whole. It can be interrupted and repeated; the parts stay until it is done.
 */
export function createAssembly({
  db,
  blobs,
  queue,
  generations,
}: Pick<FilesDeps, 'db' | 'blobs' | 'queue'> & { generations: Generations }): JobHandler<
  AssembleContent,
  StoredBytes | undefined
> {
  return {
    handler: async ({ payload: { botId, ...id } }, { signal }) => {
      const content = await findContent(db, botId, id)
      if (!isWhole(content)) return undefined
      const parts = await listParts(db, botId, id)
      const blobKey = randomUUID()
      const bytes = Readable.from(bytesOf(blobs, parts), { objectMode: false })
      const stored = await putAndClose(blobs, blobKey, bytes, {
        maxBytes: content.size,
        signal,
      })
      if (stored.size !== content.size) {
        await blobs.remove(blobKey)
        throw new Error(`The parts have ${stored.size} bytes, the content ${content.size}`)
      }
      return await reuseOrReplaceBlob({ db, blobs }, botId, { blobKey, ...stored })
    },

    onDone: async (tx, { payload: { botId, ...id } }, stored) => {
      if (stored === undefined) return
      const file = await lockFile(tx, botId, id.fileId)
      const content = await findContent(tx, botId, id)
      if (file !== undefined && isWhole(content)) {
        await generations.completeUpload(tx, file, content, stored)
        return
      }
      // The file was deleted or upserted again in the meantime.
      await discardBlob(tx, stored.blobKey)
      requestBlobSweep(queue, tx)
    },

    onDead: async (tx, { payload: { botId, ...id } }) => {
      const file = await lockFile(tx, botId, id.fileId)
      const content = await findContent(tx, botId, id)
      if (file === undefined || !isWhole(content)) return
      const reason =
        'The content came, but could not be put together: the log of the server says why.'
      await generations.failUpload(tx, file, content, reason)
    },
  }
}

/** Whether all parts exist and still wait to be assembled. */
function isWhole(content: ContentRow | undefined): content is ContentRow {
  return content?.status === 'upload_pending' && content.received === content.size
}

async function* bytesOf(blobs: BlobStore, parts: readonly PartRow[]): AsyncGenerator<Uint8Array> {
  for (const { blob_key } of parts) yield* await blobs.get(blob_key)
}
