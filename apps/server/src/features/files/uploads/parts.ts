import { createHash, type Hash, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { BlobStore } from '../../../platform/blobs/blob-store.js'
import { putAndClose } from '../../../platform/blobs/put-and-close.js'
import type { Timers } from '../../../platform/timers.js'
import type { StoredBytes } from '../contents/blob-use-store.js'
import type { ByteSource } from './byte-source.js'
import { tooLarge } from './errors.js'

/** Bytes after which a part is stored. Together with the time it bounds what a crash can cost. */
const partBytes = 16 * 1024 * 1024
/** Milliseconds after which a part is stored, however small it is. */
const partTime = 10_000

/** A part that lies in the blob store. */
export interface Part extends StoredBytes {
  /** Where it begins in the content, in bytes. */
  start: number
}

interface Received {
  /** Where the first byte belongs in the content. */
  offset: number
  /** Bytes of the whole content. */
  size: number
  hash?: Hash | undefined
}

/**
 * Stores what a source brings as parts, one after another, each durable when it is handed on. A
 * source that breaks or is stopped ends the last part early, and nothing of what came is lost.
 * @throws ApiError when more comes than the content has room for; that part is dropped
 */
export async function* receiveParts(
  { blobs, timers }: { blobs: BlobStore; timers: Timers },
  source: ByteSource,
  { offset, size, hash }: Received,
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

/** A checksum that a sender gives with its bytes. */
export interface Checksum {
  hash: Hash
  /** Whether the bytes that were hashed are those that were sent. */
  matches(): boolean
}

/** Reads a header `Upload-Checksum`; undefined when it is not one. */
export function readChecksum(header: string): Checksum | undefined {
  const [, name = '', value = ''] = /^(\w+) ([A-Za-z0-9+/]+=*)$/.exec(header) ?? []
  const algorithm = Object.hasOwn(algorithms, name) ? algorithms[name] : undefined
  if (algorithm === undefined) return undefined
  const hash = createHash(algorithm)
  return { hash, matches: () => hash.digest().equals(Buffer.from(value, 'base64')) }
}
